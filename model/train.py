"""Train the table: one vector a word piece, a text's vector is the mean of its pieces'.

    python train.py --work DIR --out vectors.npy [--epochs 1] [--overlap-drop 0.15] ...

Symmetric InfoNCE: in a batch, every query must find its target among all targets and the other way round.
Batches are made of groups of pairs of the same package, since those are the hard negatives. Besides the
full width the loss is taken on the first half of the dimensions. Everything is numpy and scipy on one core:
a batch of bags is a sparse matrix, its product with the table gives the means, its transpose the gradient.

Four kinds of noise make the pairs look like what a search sees:
- the path's words are added to most targets, as the index does;
- neighbours of the same file are added to some code targets, since chunks hold several functions;
- question words are put before some queries;
- from some queries the pieces that the target also has are taken out, so that the vectors must learn which
  words mean the same, and not only which words are the same.
"""

import argparse
import os
import time

import numpy as np
from scipy import sparse

from common import Pieces

CODE_OPENINGS = """how does|how|where is|where|function that|code that|code for|implementation of|find|class for|what|how is
|which file|the logic for|handles|how are|method to|module for|support for""".replace("\n", "").split("|")
PROSE_OPENINGS = """how do i|how can i|how to|what is|what are|why|when should i|what happens when|is it possible to|can i
|where do i|which|does it|how does|what does|how should i|is there a way to|what do i need to|my|i want to|we need to
|how much|how many|where can i find""".replace("\n", "").split("|")


class Data:
    """The arrays that prepare.py wrote, and the bags drawn from them."""

    def __init__(self, work, options):
        loaded = np.load(os.path.join(work, "arrays.npz"))
        self.arrays = {name: loaded[name] for name in loaded.files}
        with open(os.path.join(work, "vocabulary.txt")) as file:
            self.vocabulary = file.read().split("\n")
        self.count = len(self.arrays["package"])
        self.options = options
        self.chance = np.random.default_rng(options.seed)
        pieces = Pieces(self.vocabulary)
        self.openings = [[np.array(pieces.of_text(text), np.int32) for text in texts]
                         for texts in (CODE_OPENINGS, PROSE_OPENINGS, [""])]
        self.by_file = np.argsort(self.arrays["document"], kind="stable")
        documents = self.arrays["document"]
        self.file_starts = np.searchsorted(documents[self.by_file], np.arange(documents.max() + 2))

    def part(self, name, index):
        starts = self.arrays[name + "_at"]
        return self.arrays[name][starts[index]:starts[index + 1]]

    def batches(self, epoch):
        """Pair numbers of an epoch's batches, made of groups of the same package."""
        options = self.options
        chance = np.random.default_rng((options.seed, epoch))
        order = chance.permutation(self.count)
        order = order[np.argsort(self.arrays["package"][order], kind="stable")]
        groups = [order[at:at + options.group] for at in range(0, self.count, options.group)]
        chance.shuffle(groups)
        flat = np.concatenate(groups)
        for at in range(0, len(flat) - options.batch + 1, options.batch):
            yield flat[at:at + options.batch]

    def query(self, index, target):
        """The pieces of a query, perhaps with question words before it or without what the target has."""
        found = self.part("query", index)[:48]
        prose = self.arrays["prose"][index]
        if self.chance.random() < self.options.overlap_drop:
            kept = found[~np.isin(found, target)]
            if len(kept) >= 2:
                found = kept
        if self.chance.random() < self.options.openings:
            choices = self.openings[prose]
            found = np.concatenate([choices[self.chance.integers(len(choices))], found])
        return found

    def target(self, index):
        """The pieces of a target, perhaps with neighbours of its file and the words of its path."""
        options, chance = self.options, self.chance
        found = [self.part("target", index)[:options.longest]]
        file = self.arrays["document"][index]
        start, end = self.file_starts[file], self.file_starts[file + 1]
        neighbours = []
        if end - start > 1 and not self.arrays["prose"][index] and chance.random() < options.neighbours:
            for other in self.by_file[chance.integers(start, end, chance.integers(1, 4))]:
                if other != index and sum(map(len, found)) < 320:
                    neighbours.append(other)
                    found.append(self.part("target", other)[:options.longest])
                    found.append(self.part("query", other)[:48])
        path = self.part("path", index)
        found = [np.concatenate(found)[:320]]
        if chance.random() < options.path:
            found += [path] * int(chance.integers(1, 3))
        return np.concatenate(found), neighbours


def bag_matrix(bags, width):
    """A sparse matrix whose product with the table is the mean of each bag."""
    lengths = np.array([max(len(bag), 1) for bag in bags])
    columns = np.concatenate([bag if len(bag) else np.zeros(1, np.int32) for bag in bags])
    weights = np.repeat((1.0 / lengths).astype(np.float32), lengths)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_matrix((weights, columns, starts), shape=(len(bags), width))


def normalised(vectors):
    norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-8)
    return vectors / norms, norms


def normalisation_gradient(gradient, unit, norms):
    return (gradient - unit * np.sum(gradient * unit, axis=1, keepdims=True)) / norms


def softmax(scores):
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def contrast(queries, targets, temperature, mask):
    """Symmetric InfoNCE of two lists of mean vectors: the loss and both gradients."""
    query, query_norm = normalised(queries)
    target, target_norm = normalised(targets)
    scores = query @ target.T / temperature
    if mask is not None:
        scores[mask] = -1e4
    rows, columns = softmax(scores), softmax(scores.T).T
    size = len(scores)
    own = np.arange(size)
    loss = -0.5 * (np.log(rows[own, own] + 1e-12).mean() + np.log(columns[own, own] + 1e-12).mean())
    slope = 0.5 * (rows + columns) / size
    slope[own, own] -= 1.0 / size
    slope /= temperature
    return (loss, normalisation_gradient(slope @ target, query, query_norm),
            normalisation_gradient(slope.T @ query, target, target_norm))


class Adam:
    """Adam over the whole table.

    Not only over the rows that a batch touched: a rare piece's row goes on moving with its momentum after it
    was seen, about ten times as far, and without that rare words stay too short to count in a mean.
    """

    def __init__(self, table, first=0.9, second=0.99):
        self.table, self.first, self.second = table, first, second
        self.mean, self.square, self.change = np.zeros_like(table), np.zeros_like(table), np.empty_like(table)
        self.steps = 0

    def step(self, rows, gradient, rate):
        self.steps += 1
        self.mean *= self.first
        self.square *= self.second
        self.mean[rows] += (1 - self.first) * gradient
        self.square[rows] += (1 - self.second) * gradient * gradient
        np.sqrt(self.square, out=self.change)
        self.change *= 1 / np.sqrt(1 - self.second ** self.steps)
        self.change += 1e-8
        np.divide(self.mean, self.change, out=self.change)
        self.change *= rate / (1 - self.first ** self.steps)
        self.table -= self.change


def neighbour_mask(indices, neighbours):
    """Query j is no negative of target i where target i holds j's text as a neighbour."""
    position = {int(index): place for place, index in enumerate(indices)}
    held = [(int(other), row) for row, others in enumerate(neighbours) for other in others]
    pairs = [(position[other], row) for other, row in held if other in position and position[other] != row]
    if not pairs:
        return None
    mask = np.zeros((len(indices), len(indices)), bool)
    mask[tuple(np.array(pairs).T)] = True
    return mask


def train_step(data, indices, table, adam, rate, options):
    """One batch; its loss."""
    drawn = [data.target(index) for index in indices]
    targets = bag_matrix([bag for bag, _ in drawn], len(table))
    queries = bag_matrix([data.query(index, bag) for index, (bag, _) in zip(indices, drawn)], len(table))
    mask = neighbour_mask(indices, [others for _, others in drawn])
    query_mean, target_mean = queries @ table, targets @ table
    query_slope, target_slope = np.zeros_like(query_mean), np.zeros_like(target_mean)
    total = 0.0
    for width, weight in ((table.shape[1], 1.0), (table.shape[1] // 2, 0.3)):
        loss, query_part, target_part = contrast(
            query_mean[:, :width], target_mean[:, :width], options.temperature, mask)
        total += loss if weight == 1.0 else 0.0
        query_slope[:, :width] += weight * query_part
        target_slope[:, :width] += weight * target_part
    rows = np.unique(np.concatenate([queries.indices, targets.indices]))
    gradient = sparse.vstack([queries, targets]).T.tocsr()[rows] @ np.concatenate([query_slope, target_slope])
    adam.step(rows, gradient, rate)
    return total


def train(options):
    data = Data(options.work, options)
    chance = np.random.default_rng(options.seed)
    table = (chance.standard_normal((len(data.vocabulary), options.width)) * 0.05).astype(np.float32)
    adam = Adam(table)
    total = int(options.epochs * data.count / options.batch)
    done, epoch, losses, began = 0, 0, [], time.time()
    print(data.count, "pairs,", len(table), "pieces,", total, "steps", flush=True)
    while done < total:
        for indices in data.batches(epoch):
            rate = options.rate * min(1.0, (done + 1) / (0.05 * total)) * max(0.02, 1 - done / total)
            losses.append(train_step(data, indices, table, adam, rate, options))
            done += 1
            if done % 100 == 0:
                print(done, total, f"loss {np.mean(losses[-100:]):.3f}", f"{time.time() - began:.0f} s", flush=True)
            if done >= total:
                break
        epoch += 1
    np.save(options.out, table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--epochs", type=float, default=1.2)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--group", type=int, default=256)
    parser.add_argument("--rate", type=float, default=1e-2)
    parser.add_argument("--temperature", type=float, default=0.08)
    parser.add_argument("--longest", type=int, default=200)
    parser.add_argument("--path", type=float, default=0.9)
    parser.add_argument("--neighbours", type=float, default=0.4)
    parser.add_argument("--openings", type=float, default=0.2)
    parser.add_argument("--overlap-drop", type=float, default=0.15)
    parser.add_argument("--seed", type=int, default=0)
    train(parser.parse_args())


if __name__ == "__main__":
    main()

//! LCOV parsing: examples of every kind of text, and random reports compared with a simple second
//! implementation.

use super::*;
use crate::coverage::snapshot::Snapshot;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

fn parse(text: impl AsRef<[u8]>) -> Result<Report, LcovError> {
    let names = FileNames::default();
    let mut parser = LcovParser::new(&names);
    parser.feed(text.as_ref())?;
    parser.finish()
}

/// `path hit/found` of each file.
fn files(text: impl AsRef<[u8]>) -> Vec<String> {
    let report = parse(text).unwrap();
    let show = |file: &FileCoverage| format!("{} {}/{}", file.path, file.lines.hit, file.lines.found);
    report.files().iter().map(show).collect()
}

fn reason(text: impl AsRef<[u8]>) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn listed_lines_decide_over_totals() {
    let text = "TN:\nSF:a.rs\nDA:1,1\nDA:2,0\nDA:70,5\nend_of_record\nSF:b.rs\nDA:1,0\nend_of_record\n";
    assert_eq!(files(text), ["a.rs 2/3", "b.rs 0/1"]);
    assert_eq!(parse(text).unwrap().total(), LineHits { found: 4, hit: 2 });
}

#[test]
fn totals_count_if_no_line_is_listed() {
    let only_totals = "SF:a\nLF:10\nLH:4\nend_of_record\n";
    assert_eq!(files(only_totals), ["a 4/10"]);
    let disagreeing = "SF:a\nDA:1,1\nLF:10\nLH:4\nend_of_record\n";
    assert_eq!(files(disagreeing), ["a 1/1"]);
    let of_two_runs = "SF:a\nLF:10\nLH:4\nend_of_record\nSF:a\nLH:6\nLF:9\nend_of_record\n";
    assert_eq!(files(of_two_runs), ["a 6/10"]);
    let listed_once = "SF:a\nLF:10\nLH:4\nend_of_record\nSF:a\nDA:1,1\nend_of_record\n";
    assert_eq!(files(listed_once), ["a 1/1"]);
    assert_eq!(files("SF:a\nLF:10\nend_of_record\n"), ["a 0/10"]);
    assert_eq!(files("SF:a\nDA:1,1\nLF:\nLH:x\nend_of_record\n"), ["a 1/1"]);
    assert_eq!(files("SF:a\nend_of_record\n"), ["a 0/0"]);
}

#[test]
fn sections_about_one_file_are_merged_line_by_line() {
    let text = "SF:a\nDA:1,1\nDA:2,0\nDA:3,0\nend_of_record\nSF:b\nend_of_record\n\
                SF:./a\nDA:2,7\nDA:3,0\nDA:4,1\nend_of_record\n";
    assert_eq!(files(text), ["a 3/4", "b 0/0"]);
}

#[test]
fn lines_may_come_in_any_order_and_more_than_once() {
    let mut text = String::from("SF:a\n");
    for line in (0..5_000).rev().chain(0..5_000) {
        text += &format!("DA:{},{}\n", line * 97 % 5_000 * 40, line % 2);
    }
    assert_eq!(files(text + "end_of_record\n"), ["a 2500/5000"]);
}

#[test]
fn counts_of_every_producer_are_read() {
    for (count, hit) in [
        ("1", 1),
        ("0", 0),
        ("00", 0),
        ("-3", 0),
        ("18446744073709551616", 1),
        ("1e+10", 1),
        ("0.5", 1),
        (" 2 ", 1),
        ("3,u6yIZ1WgSPDwqPyM7CPKYA", 1),
        ("0,u6yIZ1WgSPDwqPyM7CPKYA", 0),
    ] {
        assert_eq!(
            files(format!("SF:a\nDA:5,{count}\nend_of_record")),
            [format!("a {hit}/1")],
            "{count}"
        );
    }
}

#[test]
fn function_and_branch_records_are_skipped() {
    let text = b"# made by hand\nTN:unit\nVER:2\nSF:a\nVER:abc\nFN:1,main\nFN:1,9,main\nFNDA:1,main\nFNF:1\nFNH:1\n\
                FNL:0,1,9\nFNA:0,1,main\nBRDA:1,0,0,-\nBRF:2\nBRH:0\nMCDC:1\nXX:\xff\n\nDA:1,1\nend_of_record\n";
    assert_eq!(files(text), ["a 1/1"]);
}

#[test]
fn blanks_around_a_record_are_ignored() {
    assert_eq!(
        files(" SF: a.rs \n\tDA:1,1 \n DA: 2 , 0\n end_of_record \n"),
        ["a.rs 1/2"]
    );
}

#[test]
fn names_that_are_not_utf_8_stay_apart() {
    let text = b"SF:\xe4.c\nDA:1,1\nend_of_record\nSF:\xf6.c\nDA:1,0\nend_of_record\n";
    assert_eq!(files(text), ["%E4.c 1/1", "%F6.c 0/1"]);
}

#[test]
fn line_ends_and_byte_order_marks_of_windows_are_read() {
    assert_eq!(
        files("\u{feff}SF:src\\a.ts\r\nDA:1,1\r\nDA:2,0\r\nLF:2\r\nend_of_record\r\n"),
        ["src/a.ts 1/2"]
    );
    assert_eq!(
        files("SF:a\nDA:1,1\nend_of_record"),
        ["a 1/1"],
        "no line end at the end"
    );
    assert_eq!(
        reason(b"\xff\xfeS\0F\0"),
        "invalid format: it is UTF-16; write it as UTF-8"
    );
}

#[test]
fn other_text_is_an_error_and_never_a_number() {
    assert_eq!(reason(""), "invalid format: the file is empty");
    for text in ["\n", "hello\n", "{\"total\": {}}", "TN:\n", "\x7fELF\0\x01\n"] {
        assert_eq!(reason(text), "invalid format: there is no coverage record in it");
    }
}

#[test]
fn a_report_that_is_cut_off_is_an_error() {
    let whole = "SF:a\nDA:1,1\nDA:2,1\nend_of_record\n";
    for end in 1..whole.len() - 1 {
        let error = parse(&whole[..end]).unwrap_err();
        let ended = matches!(error, LcovError::Unfinished(_) | LcovError::NoRecord);
        assert!(
            ended || matches!(error, LcovError::Malformed { .. }),
            "{end}: {error}"
        );
    }
}

#[test]
fn an_error_gives_the_number_of_a_malformed_line_and_not_its_text() {
    for (text, problem) in [
        ("DA:1,1\n", "1: DA outside of a record"),
        ("LF:1\n", "1: LF or LH outside of a record"),
        ("end_of_record\n", "1: end_of_record without a record"),
        ("SF: \n", "1: SF names no file"),
        ("SF:src/..\n", "1: SF names no file"),
        (
            "SF:a\nSF:b\n",
            "2: SF inside a record; the end_of_record before it is missing",
        ),
        ("SF:a\n\nDA:x,1\n", "3: DA without a line number and a count"),
        ("SF:a\nDA:1\n", "2: DA without a line number and a count"),
        ("SF:a\nDA:1,\n", "2: DA without a line number and a count"),
        ("SF:a\nDA:-1,1\n", "2: DA without a line number and a count"),
        ("SF:a\nDA:1,nan\n", "2: DA without a line number and a count"),
        (
            "SF:a\nDA:99999999999999999999,1\n",
            "2: DA without a line number and a count",
        ),
        (
            "SF:a\nLF:many\nend_of_record\n",
            "3: LF or LH of the record is no count",
        ),
        (
            "SF:a\nLF:5000000000\nend_of_record\n",
            "3: LF or LH of the record is no count",
        ),
        (
            "SF:a\nLF:1\nLH:2\nend_of_record\n",
            "4: the record claims more lines hit than found",
        ),
    ] {
        assert_eq!(
            reason(text),
            format!("invalid format in line {problem}"),
            "{text}"
        );
    }
}

#[test]
fn an_endless_line_is_refused_before_it_fills_memory() {
    let names = FileNames::default();
    let mut parser = LcovParser::new(&names);
    let piece = vec![b'x'; 1 << 16];
    let fed = (0..1_000).take_while(|_| parser.feed(&piece).is_ok()).count();
    assert_eq!(fed, MAX_LINE_BYTES / piece.len());
}

#[test]
fn a_report_of_too_many_lines_is_refused() {
    let names = FileNames::default();
    let mut parser = LcovParser::new(&names);
    parser.feed(b"SF:a\nend_of_record\n").unwrap();
    parser.held_bytes = MAX_HELD_BYTES - 3 * size_of::<LineWord>() - FILE_ENTRY_BYTES - 1;
    parser.feed(b"SF:b\nDA:1,1\nDA:100,1\nDA:200,1\n").unwrap();
    assert_eq!(parser.feed(b"DA:300,1\n"), Err(LcovError::TooMuch));
}

/// The same rules as a simple implementation, for well-formed text.
fn parse_simply(text: &str) -> Vec<String> {
    let mut files: BTreeMap<&str, (BTreeMap<u64, bool>, u64, u64)> = BTreeMap::new();
    let mut path = "";
    for line in text.lines() {
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        match key {
            "SF" => {
                path = value;
                files.entry(path).or_default();
            }
            "DA" => {
                let (line, count) = value.split_once(',').unwrap();
                let hit = files
                    .get_mut(path)
                    .unwrap()
                    .0
                    .entry(line.parse().unwrap())
                    .or_default();
                *hit |= count != "0";
            }
            "LF" => files.get_mut(path).unwrap().1 = value.parse().unwrap(),
            "LH" => files.get_mut(path).unwrap().2 = value.parse().unwrap(),
            _ => {}
        }
    }
    let show = |(path, (lines, found, hit)): (&str, (BTreeMap<u64, bool>, u64, u64))| {
        let hits = lines.values().filter(|hit| **hit).count();
        match lines.len() {
            0 => format!("{path} {hit}/{found}"),
            all => format!("{path} {hits}/{all}"),
        }
    };
    files.into_iter().map(show).collect()
}

/// A record of one of a few files, so that files repeat.
fn record() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        6 => (0_u64..300, 0_u64..3).prop_map(|(line, count)| format!("DA:{line},{count}\n")),
        1 => (0_u64..9_000_000, 0_u64..3).prop_map(|(line, count)| format!("DA:{line},{count}\r\n")),
        1 => "(FN|BRDA|TN|XY):[a-z0-9,]{0,9}\n",
    ];
    let name = prop::sample::select(vec!["a", "b/a", "c.rs"]);
    (name, prop::collection::vec(line, 0..40)).prop_map(|(name, lines)| {
        // The same total in all sections, so that the simple implementation need not merge them.
        format!("SF:{name}\n{}LF:9\nLH:5\nend_of_record\n", lines.concat())
    })
}

proptest! {
    #[test]
    fn a_report_fed_in_any_parts_equals_the_simple_implementation(
        records in prop::collection::vec(record(), 1..12),
        piece in 1_usize..200,
    ) {
        let text = records.concat();
        let names = FileNames::default();
        let mut parser = LcovParser::new(&names);
        for piece in text.as_bytes().chunks(piece) {
            parser.feed(piece).unwrap();
        }
        let in_pieces = parser.finish().unwrap();
        prop_assert_eq!(&in_pieces, &parse(&text).unwrap());
        prop_assert_eq!(files(&text), parse_simply(&text));
    }

    #[test]
    fn random_bytes_give_the_same_result_whole_and_in_parts(
        bytes in prop::collection::vec(
            prop_oneof![
                3 => "(SF:|DA:|LF:|LH:|end_of_record|\n|\r\n|,|[0-9]{1,25}|-|e|\\.\\./|/a/)".prop_map(String::into_bytes),
                1 => prop::collection::vec(any::<u8>(), 0..6),
            ],
            0..60,
        ),
        piece in 1_usize..50,
    ) {
        let bytes = bytes.concat();
        let names = FileNames::new(["/a"]);
        let read = |piece: usize| {
            let mut parser = LcovParser::new(&names);
            for piece in bytes.chunks(piece) {
                parser.feed(piece)?;
            }
            parser.finish()
        };
        let whole = read(usize::MAX);
        if let Ok(report) = &whole {
            prop_assert!(report.files().iter().all(|file| file.lines.hit <= file.lines.found));
            prop_assert!(report.total().percent().tenths <= 1_000);
            let report = Arc::new(report.clone());
            let snapshot = Snapshot { taken: 1, project: "a".into(), report };
            prop_assert_eq!(Snapshot::read(&snapshot.write()), Some(snapshot));
        }
        prop_assert_eq!(read(piece), whole);
    }
}

// Written by `docent setup`, and deleted by `docent setup --remove`.
import { spawn } from "node:child_process"

const program = "PROGRAM"
const parts = ["PARTS"]

// Asks docent about an event. Without an answer in time, nothing is changed.
const ask = (event) =>
  new Promise((resolve) => {
    let answer = ""
    const child = spawn(program, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"], timeout: 2000 })
    child.on("error", () => resolve(undefined))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (text) => (answer += text))
    child.on("close", () => {
      try {
        resolve(JSON.parse(answer))
      } catch {
        resolve(undefined)
      }
    })
    child.stdin.end(JSON.stringify(event))
  })

export const Docent = async ({ directory }) => {
  let start
  return {
    "tool.execute.before": async (input, output) => {
      if (!parts.includes("shell") || input.tool !== "bash") return
      const answer = await ask({
        event: "before", tool: input.tool, args: output.args, session: input.sessionID, directory,
      })
      if (answer?.args) Object.assign(output.args, answer.args)
    },
    "tool.execute.after": async (input, output) => {
      if (!parts.includes("search") || !["grep", "glob"].includes(input.tool)) return
      const answer = await ask({
        event: "after", tool: input.tool, output: output.output, session: input.sessionID, directory,
      })
      if (answer?.context) output.output += "\n\n" + answer.context
    },
    "experimental.chat.system.transform": async (_input, output) => {
      if (!parts.includes("session")) return
      start ??= ask({ event: "start", directory })
      const answer = await start
      if (answer?.context) output.system.push(answer.context)
    },
  }
}

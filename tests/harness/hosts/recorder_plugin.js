// Runs a shell command at each hook of OpenCode. One that is to stop no session prints the block that the
// other clients know; the agent then reads its reason as the user's next message.
import { spawnSync } from "node:child_process"

const commands = COMMANDS

export const Recorder = async ({ client }) => {
  const hook = (event) => async (input, output) => {
    const payload = JSON.stringify({ hook_event_name: event, session_id: input?.sessionID, input, output })
    const { stdout } = spawnSync("sh", ["-c", commands[event]], { input: payload, encoding: "utf8" })
    const { reason } = JSON.parse(stdout || "{}")
    if (!reason) return
    const parts = [{ type: "text", text: reason }]
    await client.session.prompt({ path: { id: input.sessionID }, body: { noReply: true, parts } })
  }
  return Object.fromEntries(Object.keys(commands).map((event) => [event, hook(event)]))
}

// grove's plugin for OpenCode, written by `grove init --hooks opencode`. It calls `grove hook opencode`
// with what happens, and does what the answer says; what to do is decided there.
//
// OpenCode asks no plugin whether the agent may stop. It goes on, though, while the newest message is
// the user's, and `experimental.text.complete` is waited for. So the reason for a block is put into
// the session there. Only the next request shows whether that text was the end of the turn: if the
// agent has called a tool since, the reason is hidden again, and otherwise the stop is asked about
// once more, to be counted.
import { spawn } from "node:child_process"

const PROGRAM = "@PROGRAM@"
const SECONDS = 25
const CLIENT_SECONDS = 5
const MOST_BLOCKS = 12 // for each prompt of a person; grove itself lets go earlier
// grove's names of tools; a client's own tools that have none are no concern of it.
const NAMES = { bash: "Bash", todowrite: "TodoWrite", read: "Read", edit: "Edit", write: "Write" }
const FILES = new Set(["read", "edit", "write"])
const IGNORED = new Set(
  ("apply_patch batch codesearch glob grep invalid list lsp multiedit patch plan_enter plan_exit" +
    " question skill task todoread webfetch websearch").split(" "),
)

class Denied extends Error {}

function grove(call) {
  return new Promise((resolve) => {
    let out = ""
    let child
    const give = (answer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    const timer = setTimeout(() => {
      child?.kill("SIGKILL")
      resolve({})
    }, SECONDS * 1000)
    try {
      child = spawn(PROGRAM, ["hook", "opencode"], { cwd: call.cwd, stdio: ["pipe", "pipe", "ignore"] })
      child.on("error", () => give({}))
      child.on("close", () => give(parsed(out)))
      child.stdout.on("data", (data) => (out += data))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(call))
    } catch {
      give({})
    }
  })
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

function limited(promise) {
  const late = new Promise((resolve) => setTimeout(resolve, CLIENT_SECONDS * 1000).unref?.())
  return Promise.race([promise, late])
}

function callOf(tool, args, tool_use_id) {
  // Of a file's contents grove wants to know nothing.
  const tool_input = FILES.has(tool) ? { file_path: args.filePath } : args
  return { tool_name: NAMES[tool] ?? tool, tool_input, tool_use_id }
}

const isOwn = (parts) => parts.some((part) => part.metadata?.grove)

export const Grove = async ({ client, directory }) => {
  const parents = new Map() // of subagents' sessions, and null for the others, known since their first prompt
  const contexts = new Map() // what grove says at a session's start
  const speakers = new Map() // whose agent and model a session's prompts are for
  const reasons = new Map() // the message that may hold a session, until the next request
  const blocks = new Map() // given since the person's last prompt
  const unasked = new Set() // sessions at work whose end grove has not been asked about
  const calling = new Set() // sessions whose running step has called a tool
  const compacting = new Set()

  const top = (id) => (parents.get(id) ? top(parents.get(id)) : id)
  const ask = (event, id, more) =>
    grove({
      hook_event_name: event,
      session_id: top(id),
      ...(parents.get(id) ? { agent_id: id } : {}),
      cwd: directory,
      agent: speakers.get(top(id))?.agent,
      process_id: process.pid,
      ...more,
    })

  async function meet(id) {
    const found = await limited(client.session.get({ path: { id } }))
    parents.set(id, found?.data?.parentID ?? null)
    if (parents.get(id)) return
    const messages = await limited(client.session.messages({ path: { id } }))
    const source = messages?.data?.length ? "resume" : "startup"
    contexts.set(id, say(await ask("SessionStart", id, { source })).context)
  }

  function say(answer) {
    const show = (message, variant) =>
      message && client.tui?.showToast({ body: { title: "grove", message, variant } }).catch(() => {})
    show(answer.message, "info")
    show(answer.warning, "warning")
    return answer
  }

  async function hold(id, how, tentative) {
    unasked.delete(id)
    if (parents.get(id) || (blocks.get(id) ?? 0) >= MOST_BLOCKS) return
    const { block } = say(await ask("Stop", id, { tentative }))
    if (!block) return
    blocks.set(id, (blocks.get(id) ?? 0) + 1)
    const part = { type: "text", text: block, synthetic: true, metadata: { grove: true } }
    const body = { ...speakers.get(id), parts: [part] }
    const put = client.session[how]({ path: { id }, body: tentative ? { ...body, noReply: true } : body })
    reasons.set(id, (await limited(put))?.data?.info?.id)
  }

  const hooks = {
    "chat.message": async ({ sessionID: id }, { message, parts }) => {
      speakers.set(id, { agent: message.agent, model: message.model })
      if (isOwn(parts)) return
      if (!parents.has(id)) await meet(id)
      if (parents.get(id)) return
      unasked.add(id)
      reasons.delete(id)
      blocks.delete(id)
      const texts = parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = texts.map((part) => part.text).join("\n")
      const { context } = say(await ask("UserPromptSubmit", id, { prompt, prompt_id: message.id }))
      // Behind the others, which are ordered by their ids.
      const place = { id: `${parts.at(-1)?.id}grove`, sessionID: id, messageID: message.id }
      if (context && parts.length) parts.push({ ...place, type: "text", text: context, synthetic: true })
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (contexts.get(sessionID)) system.push(contexts.get(sessionID))
    },
    "experimental.chat.messages.transform": async (_, { messages }) => {
      const id = messages[0]?.info.sessionID
      calling.delete(id)
      let called = false
      const shown = messages.filter(({ info, parts }) => {
        if (info.role === "assistant") called = parts.some((part) => part.type === "tool")
        return !(called && info.role === "user" && isOwn(parts))
      })
      messages.splice(0, messages.length, ...shown) // in place: a new list is not looked at
      const reason = reasons.get(id)
      reasons.delete(id)
      if (!reason) return
      if (messages.at(-1)?.info.id !== reason) blocks.set(id, blocks.get(id) - 1)
      else if (!(await ask("Stop", id, { tentative: false })).block) blocks.set(id, MOST_BLOCKS)
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      compacting.add(sessionID)
    },
    "experimental.text.complete": async ({ sessionID: id }) => {
      if (compacting.delete(id) || calling.has(id) || reasons.get(id)) return
      await hold(id, "prompt", true)
    },
    "tool.execute.before": async ({ tool, sessionID: id, callID }, { args }) => {
      calling.add(id)
      unasked.add(id)
      if (IGNORED.has(tool) || FILES.has(tool)) return
      const { deny } = say(await ask("PreToolUse", id, callOf(tool, args, callID)))
      if (deny) throw new Denied(deny)
    },
    "tool.execute.after": async ({ tool, sessionID: id, callID, args }, output) => {
      if (IGNORED.has(tool)) return
      const tool_response = { exit: output.metadata?.exit, isError: output.isError }
      const call = { ...callOf(tool, args, callID), tool_response }
      const { context } = say(await ask("PostToolUse", id, call))
      if (context && typeof output.output === "string") output.output += `\n\n${context}`
    },
    "shell.env": async ({ sessionID }, { env }) => {
      if (sessionID) env.GROVE_SESSION_ID = top(sessionID)
    },
    event: async ({ event: { type, properties } }) => {
      const id = properties?.sessionID
      if (type === "session.error") unasked.delete(id)
      // A turn that ended without a text; `opencode run` is gone by then.
      if (type === "session.idle" && unasked.has(id)) await hold(id, "promptAsync", false)
    },
  }
  // What a hook throws ends the prompt, or the client.
  for (const [name, hook] of Object.entries(hooks)) {
    hooks[name] = async (...values) => {
      try {
        await hook(...values)
      } catch (error) {
        if (error instanceof Denied) throw error
      }
    }
  }
  return hooks
}

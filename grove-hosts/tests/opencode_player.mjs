// Plays hooks as OpenCode calls them: node opencode_player.mjs PLUGIN < {"parents", "known", "hooks"}
// Prints what has become of the outputs, what the plugin put into the session, and what it showed.
import { readFileSync } from "node:fs"

const { Grove } = await import(process.argv[2])
const { parents = {}, known = [], hooks } = JSON.parse(readFileSync(0, "utf8"))
const said = []
const shown = []

const put = async (how, { path, body }) => {
  const info = { id: `own-${said.length + 1}`, role: "user", sessionID: path.id, ...body }
  said.push({ how, ...body })
  await plugin["chat.message"]({ sessionID: path.id }, { message: info, parts: body.parts })
  return { data: { info } }
}
const client = {
  session: {
    get: async ({ path }) => ({ data: { id: path.id, parentID: parents[path.id] } }),
    messages: async ({ path }) => ({ data: known.includes(path.id) ? [{}] : [] }),
    prompt: (request) => put("prompt", request),
    promptAsync: (request) => put("promptAsync", request),
  },
  tui: { showToast: async ({ body }) => shown.push(body) },
}
const plugin = await Grove({ client, directory: "/home/dev/project" })

for (const one of hooks) {
  try {
    if (one.event) await plugin.event({ event: one.event })
    else await plugin[one.hook]?.(one.input, one.output)
  } catch (error) {
    one.error = error.message
  }
}
console.log(JSON.stringify({ outputs: hooks.map(({ output, error }) => error ?? output), said, shown }))
process.exit()

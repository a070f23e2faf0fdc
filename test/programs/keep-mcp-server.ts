import { systemClock } from "../../src/platform/clock.ts";
import { openMcpServers } from "../../src/tools/mcp/open-mcp-servers.ts";

/** Opens a session's MCP server, reports its process id, and waits to be killed. */
const [command = "", ...args] = process.argv.slice(2);
const servers = await openMcpServers([{ type: "stdio", name: "kept", command, args }], {
  version: "1.0.0",
  clock: systemClock,
  signal: new AbortController().signal,
  environment: process.env,
  report: () => undefined,
});
const tool = servers.tools().find(({ spec }) => spec.name === "kept__pid");
const context = { signal: new AbortController().signal, progress: () => undefined };
process.send?.(Number(await tool?.run({}, context as never)));

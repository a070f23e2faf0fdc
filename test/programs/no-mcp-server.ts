import { systemClock } from "../../src/platform/clock.ts";
import { openMcpServers } from "../../src/tools/mcp/open-mcp-servers.ts";

/** Opens no MCP server, or one when it is told a command, and tells what was reported. */
const [command] = process.argv.slice(2);
const reports: string[] = [];
const servers = await openMcpServers(
  command === undefined ? [] : [{ type: "stdio", name: "one", command }],
  {
    version: "1.0.0",
    clock: systemClock,
    signal: new AbortController().signal,
    environment: process.env,
    report: ({ message }) => void reports.push(message),
  },
);
await servers.close();
process.stdout.write(JSON.stringify(reports));

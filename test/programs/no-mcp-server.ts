import { systemClock } from "../../src/platform/clock.ts";
import { openMcpServers } from "../../src/tools/mcp/open-mcp-servers.ts";

/** Opens no MCP server, or a server for the given command, and prints the reports. */
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

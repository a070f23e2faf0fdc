import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { StdioServerSettings } from "../../src/tools/mcp/mcp-server-settings.ts";
import { bundleProgram } from "./bundle-program.ts";

const examples = join(
  import.meta.dirname,
  "../../node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server",
);

/** An unmodified example server of the official SDK, over standard input and output. */
export function resolveExampleProgram(name: string): StdioServerSettings {
  const args = [join(examples, `${name}.js`)];
  return { type: "stdio", name, command: process.execPath, args };
}

export interface ExampleServer {
  readonly url: string;
  /** Kills the server and resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts a new server on the same port. */
  restart(): Promise<ExampleServer>;
}

/** An example server over HTTP, on a free port. */
export async function startExampleServer(
  name: string,
  args: readonly string[] = [],
  port = 0,
): Promise<ExampleServer> {
  const child = fork(join(examples, `${name}.js`), args, {
    execArgv: ["--import", await bundleProgram("on-free-port.ts")],
    env: { PATH: process.env["PATH"], PORT: String(port) },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  onTestFinished(() => waitForExit(child));
  const [address]: unknown[] = await once(child, "message");
  const { port: serverPort } = Object(address);
  return {
    url: `http://127.0.0.1:${serverPort}/mcp`,
    kill: () => waitForExit(child),
    restart: () => startExampleServer(name, args, serverPort),
  };
}

async function waitForExit(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

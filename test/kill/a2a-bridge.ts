import { once } from "node:events";
import type { CommandLine } from "../support/command-line.ts";
import { waitForOutput } from "../support/command-line.ts";

/** A served bridge in a process of its own. */
export interface A2aBridge {
  /** Sends a request to the JSON-RPC binding. */
  post(method: string, params: object, headers?: object): Promise<Response>;
  kill(): Promise<void>;
}

export async function startA2aBridge(
  command: CommandLine,
  directory: string,
  flags: readonly string[] = [],
): Promise<A2aBridge> {
  const place = ["--port", "0", "--json", "--data-dir", directory];
  const child = command.start(["up", ...place, ...flags]);
  const { url, link } = JSON.parse(await waitForOutput(child.stdout, "}\n"));
  const authorization = `Bearer ${new URL(link).searchParams.get("token")}`;
  return {
    post: (method, params, headers = {}) =>
      fetch(`${url}/a2a`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization, ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      }),
    async kill() {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

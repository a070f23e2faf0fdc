import { once } from "node:events";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { createHttpStream } from "acp-sdk-2/experimental/http-client";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { waitForOutput, type CommandLine } from "../command-line.ts";
import { createAcpPeer, createLineClient, type AcpPeer } from "./acp-client.ts";
import type { AcpProject } from "./acp-project.ts";

/** A client of a bridge in a separate process. */
export interface SpawnedPeer extends AcpPeer {
  /** Kills the bridge. Resolves when the process has ended. */
  readonly kill: () => Promise<void>;
}

type SpawnPeer = (
  command: CommandLine,
  project: AcpProject,
  ...flags: readonly string[]
) => Promise<SpawnedPeer>;

/** The same client over each transport of a bridge. */
export const SPAWNED_TRANSPORTS: readonly (readonly [name: string, spawn: SpawnPeer])[] = [
  ["stdio", spawnWithPipes],
  ["a WebSocket", spawnWithWebSocket],
  ["HTTP", spawnWithHttp],
];

export async function spawnWithPipes(
  _: CommandLine,
  project: AcpProject,
  ...flags: readonly string[]
): Promise<SpawnedPeer> {
  const child = project.spawn(...flags);
  const kill = createKill(child);
  child.stdin.on("error", () => {});
  return { ...createLineClient(child.stdout, child.stdin), kill };
}

export async function spawnWithWebSocket(
  command: CommandLine,
  project: AcpProject,
  ...flags: readonly string[]
): Promise<SpawnedPeer> {
  const { url, token, kill } = await spawnServer(command, project, flags);
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/acp`, {
    headers: { authorization: `Bearer ${token}` },
  });
  onTestFinished(() => socket.terminate());
  const { take, ...peer } = createAcpPeer((text) => socket.send(text));
  socket.on("message", (data: Buffer) => take(data.toString()));
  await new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject));
  // The connection ends with the process.
  socket.on("error", () => {});
  return { ...peer, kill };
}

async function spawnWithHttp(
  command: CommandLine,
  project: AcpProject,
  ...flags: readonly string[]
): Promise<SpawnedPeer> {
  const { url, token, kill } = await spawnServer(command, project, flags);
  const { readable, writable } = createHttpStream(`${url}/acp`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const writer = writable.getWriter();
  const reader = readable.getReader();
  const { take, ...peer } = createAcpPeer(
    // A write fails if the test has killed the process.
    (text) => void writer.write(JSON.parse(text)).catch(() => {}),
  );
  const receive = async (): Promise<void> => {
    for (let next = await reader.read(); !next.done; next = await reader.read())
      take(JSON.stringify(next.value));
  };
  const received = receive().catch(() => {});
  onTestFinished(async () => {
    await reader.cancel().catch(() => {});
    await received;
  });
  return { ...peer, kill };
}

async function spawnServer(
  command: CommandLine,
  { args, environment }: AcpProject,
  flags: readonly string[],
): Promise<{ readonly url: string; readonly token: string; readonly kill: SpawnedPeer["kill"] }> {
  const child = command.start(["up", "--port", "0", "--json", ...args.slice(1), ...flags], {
    environment,
  });
  const kill = createKill(child);
  const { url, link } = JSON.parse(await waitForOutput(child.stdout, "}\n"));
  return { url, token: new URL(link).searchParams.get("token") ?? "", kill };
}

/** The process ends with the test at the latest. */
function createKill(child: ChildProcessWithoutNullStreams): SpawnedPeer["kill"] {
  const exit = once(child, "close");
  onTestFinished(() => void child.kill("SIGKILL"));
  return async () => {
    child.kill("SIGKILL");
    await exit;
  };
}

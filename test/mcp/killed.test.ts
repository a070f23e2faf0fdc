import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { bundleProgram } from "../support/bundle-program.ts";
import { expectGone, isAlive } from "../support/processes.ts";

it.each(["", "stubborn"])(
  "No server process remains after the bridge is killed, whatever the process does: %j",
  async (mode) => {
    const server = await bundleProgram("hostile-server.ts");
    const bridge = fork(await bundleProgram("keep-mcp-server.ts"), [
      process.execPath,
      server,
      mode,
    ]);
    const [pid]: unknown[] = await once(bridge, "message");
    expect(isAlive(Number(pid))).toBe(true);
    bridge.kill("SIGKILL");
    await once(bridge, "exit");
    await expectGone(Number(pid));
  },
);

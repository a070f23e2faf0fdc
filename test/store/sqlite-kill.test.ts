import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFailed } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { bundleProgram } from "../support/bundle-program.ts";
import { createRandom } from "../support/bytes/bytes.ts";
import { PROCESS_MS, withDeadline } from "../support/with-deadline.ts";
import { temporaryFolder } from "./sqlite-support.ts";
import { allowLongTests } from "../support/test-depth.ts";

allowLongTests();

const ROUNDS = 20;
/** Decides where each process is killed. Random for each run; set `SPANLINE_SEED` to repeat a run. */
const SEED = Number(process.env["SPANLINE_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

describe("A process killed while it appends", () => {
  it("A process killed at any moment leaves all acknowledged events without gaps [W-33]", async () => {
    const random = createRandom(SEED);
    onTestFailed(() => {
      process.stderr.write(`Repeat these kills with SPANLINE_SEED=${SEED}\n`);
    });
    const program = await bundleProgram("append-to-store.ts");
    const file = join(temporaryFolder(), "store.db");
    const heads = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      const reported = await killedAfter(program, file, 1 + random(400));
      const store = await openSqliteStore({ file });
      expect(await store.checkIntegrity()).toEqual([]);
      for (const [sessionId, seq] of reported) {
        const head = (await store.readHead(sessionId))?.seq ?? 0;
        expect(head).toBeGreaterThanOrEqual(seq);
        heads.set(sessionId, head);
        const events = await store.read(sessionId, 0, head + 1);
        expect(events.map((envelope) => [envelope.seq, envelope.at])).toEqual(
          Array.from({ length: head }, (_, index) => [index + 1, index + 1]),
        );
        // Commands are stored together with events, so the command of the next event has no reply yet.
        expect(await store.findReply(sessionId, `cmd_${head}`)).toBeUndefined();
      }
      await store.close();
    }
    expect(heads.size).toBe(3);
  });
});

/** Runs the program, kills it after some lines, and returns the last acknowledged position of each session. */
async function killedAfter(
  program: string,
  file: string,
  lines: number,
): Promise<ReadonlyMap<string, number>> {
  const child = spawn(process.execPath, [program, file], { stdio: ["ignore", "pipe", "inherit"] });
  const reported = new Map<string, number>();
  let seen = 0;
  const closed = once(child, "close");
  createInterface(child.stdout).on("line", (line) => {
    const [sessionId = "", seq] = line.split(" ");
    reported.set(sessionId, Number(seq));
    seen += 1;
    if (seen === lines) child.kill("SIGKILL");
  });
  const state = (): string => `${seen} of ${lines} appends were reported`;
  await withDeadline(closed, state, PROCESS_MS).finally(() => child.kill("SIGKILL"));
  expect(child.signalCode).toBe("SIGKILL");
  return reported;
}

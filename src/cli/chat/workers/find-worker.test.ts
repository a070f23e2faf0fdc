import { describe, expect, it } from "vitest";
import type { WorkerRow } from "../../../host/index.ts";
import { findWorker, findWorkerBefore } from "./find-worker.ts";

function createRow(workerId: string, name: string): WorkerRow {
  const sessionId = workerId.replace("worker_", "ses_");
  return { workerId, sessionId, name, status: "running", task: "Work", agent: "helper" };
}

const CAPTAIN = createRow("worker_a1", "captain");
const SCOUT = createRow("worker_a2", "scout");
const READER = createRow("worker_b1", "Read the files");
const OPEN = [CAPTAIN, SCOUT, READER];
const KNOWN = { open: OPEN, listed: OPEN };

describe("The worker that a person names in a chat", () => {
  it.each([
    ["worker_a2", SCOUT],
    ["worker_b", READER],
    ["2", SCOUT],
    ["scout", SCOUT],
    ["Read the files", READER],
  ])("%s is an id, the beginning of one id, a position or a name", (name, worker) => {
    expect(findWorker(name, KNOWN)).toEqual({ worker, text: "" });
  });

  it("A position refers to the list that the person has seen, not to a worker that has moved up since", () => {
    const open = [SCOUT, READER];
    expect(findWorker("2", { open, listed: OPEN })).toEqual({ worker: SCOUT, text: "" });
    expect(findWorker("1", { open, listed: OPEN })).toEqual({
      problem: expect.stringMatching(
        /^Worker "1" does not exist in this session: expected "scout"/,
      ),
    });
  });

  it("A complete id precedes a longer id, and a name precedes the beginning of an id", () => {
    const longer = createRow("worker_a10", "helper");
    const named = createRow("worker_c", "worker_a");
    const open = [longer, CAPTAIN, SCOUT, named];
    const known = { open, listed: open };
    expect(findWorker("worker_a1", known)).toEqual({ worker: CAPTAIN, text: "" });
    expect(findWorker("worker_a", known)).toEqual({ worker: named, text: "" });
  });

  it.each(["worker_a", "worker_"])("The ambiguous beginning %s lists the candidates", (name) => {
    const last = name === "worker_" ? ", Read the files (worker_b1)" : "";
    expect(findWorker(name, KNOWN)).toEqual({
      problem: `"${name}" names several workers: captain (worker_a1), scout (worker_a2)${last}. Fix: use an id.`,
    });
  });

  it("A name that equals the position of another worker, or the name of another worker, is ambiguous", () => {
    const open = [CAPTAIN, createRow("worker_n", "1"), createRow("worker_m", "captain")];
    const known = { open, listed: open };
    expect(findWorker("1", known)).toEqual({
      problem: '"1" names several workers: captain (worker_a1), 1 (worker_n). Fix: use an id.',
    });
    expect(findWorker("captain", known)).toEqual({
      problem:
        '"captain" names several workers: captain (worker_a1), captain (worker_m). Fix: use an id.',
    });
  });

  it("An unknown name lists the names and ids, or suggests a similar one, without control characters", () => {
    const open = [createRow("worker_a1", "cap\u001b[2J")];
    expect(findWorker("other", { open, listed: open })).toEqual({
      problem:
        'Worker "other" does not exist in this session: expected "cap\\\\u{1b}[2J" or "worker_a1". Fix: /workers lists the open workers.',
    });
    expect(findWorker("scuot", KNOWN)).toEqual({
      problem: 'Worker "scuot" does not exist in this session. Fix: did you mean "scout"?',
    });
    expect(findWorker("other", { open: [], listed: [] })).toEqual({
      problem:
        'Worker "other" does not exist in this session. Fix: /workers lists the open workers.',
    });
  });
});

describe("The worker before a text", () => {
  it("The name is the first word, or all words of a name", () => {
    expect(findWorkerBefore("scout look at  a.ts\nand b.ts", KNOWN)).toEqual({
      worker: SCOUT,
      text: "look at  a.ts\nand b.ts",
    });
    expect(findWorkerBefore("3 again", KNOWN)).toEqual({ worker: READER, text: "again" });
    expect(findWorkerBefore("Read the files again", KNOWN)).toEqual({
      worker: READER,
      text: "again",
    });
  });

  it.each(["scout", "Read the files"])("%s without a text is incomplete", (argument) => {
    expect(findWorkerBefore(argument, KNOWN)).toBeUndefined();
  });

  it("A beginning that fits two names is ambiguous, and a longer word is not the name", () => {
    const open = [createRow("worker_r", "Read"), READER];
    const known = { open, listed: open };
    expect(findWorkerBefore("Read the files again", known)).toEqual({
      problem:
        '"Read" names several workers: Read (worker_r), Read the files (worker_b1). Fix: use an id.',
    });
    expect(findWorkerBefore("Read the filesystem", known)).toEqual({
      worker: open[0],
      text: "the filesystem",
    });
  });
});

import { describe, expect, it } from "vitest";
import type { WorkerRow } from "../../../host/index.ts";
import { PLAIN_STYLE } from "../../../inspect/trace-style.ts";
import { formatWorkerTree } from "./worker-tree.ts";

function createRow(key: string, name: string, status = "running"): WorkerRow {
  const ids = { workerId: `worker_${key}`, sessionId: `ses_${key}` };
  return { ...ids, name, status, task: "Work", agent: "helper" };
}

/** The workers by session. The session of the last worker does not exist yet. */
const TREE: { readonly [sessionId: string]: readonly WorkerRow[] } = {
  ses_root: [createRow("a", "captain"), createRow("b", "scout", "awaiting_input")],
  ses_a: [createRow("c", "reviewer"), createRow("d", "late")],
  ses_b: [],
  ses_c: [createRow("e", "reader\u001b[2J")],
  ses_e: [],
  ses_empty: [],
};

async function format(id: string, sessionId = "ses_root", width = 80) {
  const client = {
    workers: async (of: string): Promise<readonly WorkerRow[]> => {
      const rows = TREE[of];
      if (rows === undefined) throw new Error("The session does not exist");
      return rows;
    },
  };
  const query = { sessionId, id };
  const { rows } = await formatWorkerTree(client, query, { style: PLAIN_STYLE, width });
  return rows;
}

describe("The workers of a session in a chat", () => {
  it("Each worker is a row below its parent, with its position if it is a worker of the session itself, its status, its id and its session", async () => {
    expect(await format("")).toEqual([
      "1. captain  running  worker_a  ses_a",
      "    reviewer  running  worker_c  ses_c",
      "      reader\\u{1b}[2J  running  worker_e  ses_e",
      "    late  running  worker_d  ses_d",
      "2. scout  awaiting_input  worker_b  ses_b",
    ]);
    expect(await format("", "ses_empty")).toEqual(["No worker is open."]);
    expect((await format("", "ses_root", 12))[0]).toBe("1. captain …");
  });

  it.each(["worker_c", "ses_c"])("The id %s shows one worker and the workers below", async (id) => {
    expect(await format(id)).toEqual([
      "reviewer  running  worker_c  ses_c",
      "  reader\\u{1b}[2J  running  worker_e  ses_e",
    ]);
  });

  it("An unknown id gets a message with the known ids, or with the command which lists them", async () => {
    expect(await format("worker_z", "ses_b")).toEqual([
      'Worker "worker_z" does not exist in this session. Fix: /workers lists the open workers.',
    ]);
    expect(await format("other", "ses_c")).toEqual([
      'Worker "other" does not exist in this session: expected "worker_e". Fix: /workers lists the open workers.',
    ]);
  });

  it("An unknown session is an error of the request", async () => {
    await expect(format("", "ses_x")).rejects.toThrow("The session does not exist");
  });
});

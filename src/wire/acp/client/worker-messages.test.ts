import { describe, expect, it } from "vitest";
import { readWorkers } from "./worker-messages.ts";

describe("The workers of a session in a client", () => {
  it("A worker that has ended is not listed, although its session is not at rest", () => {
    const facts = { workerName: "captain", workerTask: "Watch", agent: "helper" };
    const rows = [
      { workerId: "worker_1", childSessionId: "ses_1", status: "cancelled", terminal: true },
      { workerId: "worker_2", childSessionId: "ses_2", status: "running", terminal: false },
      // Another agent may leave out the field.
      { workerId: "worker_3", childSessionId: "ses_3", status: "running" },
    ];
    const result = readWorkers({ workers: rows.map((row) => ({ ...row, ...facts })) });
    const known = { status: "running", name: "captain", task: "Watch", agent: "helper" };
    expect(result).toEqual({
      ok: true,
      value: [
        { workerId: "worker_2", sessionId: "ses_2", ...known },
        { workerId: "worker_3", sessionId: "ses_3", ...known },
      ],
    });
  });
});

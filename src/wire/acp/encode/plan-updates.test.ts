import { describe, expect, it } from "vitest";
import { findAcpProblems } from "../../../../test/support/acp/acp-schema.ts";
import type { SessionEvent } from "../../../domain/events/session-event.ts";
import { runCodec } from "../../../domain/codec.ts";
import type { PlanEntry } from "../../../domain/outputs/plan.ts";
import { encodeUpdateLine, type AcpSessionUpdate } from "./acp-session-update.ts";
import { createUpdateEncoder } from "./update-encoder.ts";
import type { UpdateOptions } from "./update-state.ts";

function encodeUpdates(events: readonly SessionEvent[], options: Partial<UpdateOptions> = {}) {
  const encoder = createUpdateEncoder({
    sessionId: "s",
    clientId: "me",
    upTo: 0,
    history: "shown",
    ...options,
  });
  const log = events.map((event, index) => {
    const place = { sessionId: "s", seq: index + 1, at: 0, turnId: "turn_1" };
    return { ...place, visibility: "public", event } as const;
  });
  return runCodec(encoder, log).flatMap((output): AcpSessionUpdate[] =>
    output.type === "update" ? [output.update] : [],
  );
}

function planned(...entries: readonly PlanEntry[]): SessionEvent {
  return { type: "plan.updated", entries };
}

const entry = (content: string, status: PlanEntry["status"]): PlanEntry => ({
  content,
  status,
  priority: "medium",
});

describe("Plan updates", () => {
  it("Every plan update contains the whole plan [ACP-93]", () => {
    const first = [entry("Look", "in_progress"), entry("Write", "pending")];
    const second = [entry("Look", "completed"), entry("Write", "in_progress")];
    expect(encodeUpdates([planned(...first), planned(...second), planned()])).toEqual([
      { sessionUpdate: "plan", entries: first },
      { sessionUpdate: "plan", entries: second },
      { sessionUpdate: "plan", entries: [] },
    ]);
  });

  it("The plan is replayed by session/load and not by session/resume [ACP-54]", () => {
    const plan = [planned(entry("Look", "pending"))];
    expect(encodeUpdates(plan, { upTo: 1 })).toHaveLength(1);
    expect(encodeUpdates(plan, { upTo: 1, history: "hidden" })).toEqual([]);
  });

  it("Statuses map to ACP and unmapped statuses are kept under _meta.harn [W-27]", () => {
    const statuses = ["pending", "in_progress", "completed", "blocked", "cancelled"] as const;
    const [update] = encodeUpdates([planned(...statuses.map((status) => entry(status, status)))]);
    const plain = { priority: "medium" };
    expect(update).toEqual({
      sessionUpdate: "plan",
      entries: [
        { content: "pending", status: "pending", ...plain },
        { content: "in_progress", status: "in_progress", ...plain },
        { content: "completed", status: "completed", ...plain },
        { content: "blocked", status: "pending", ...plain, _meta: { harn: { status: "blocked" } } },
        {
          content: "cancelled",
          status: "completed",
          ...plain,
          _meta: { harn: { status: "cancelled" } },
        },
      ],
    });
    if (update === undefined) throw new Error("No plan");
    expect(findAcpProblems(JSON.parse(encodeUpdateLine("s", update)))).toEqual([]);
  });

  it("A plan with long entries keeps all entries and fits into a line", () => {
    const long = Array.from({ length: 64 }, (_, at) =>
      entry(`${at} ${"\u0001".repeat(998)}`, "blocked"),
    );
    const [update] = encodeUpdates([planned(...long)]);
    if (update?.sessionUpdate !== "plan") throw new Error("No plan");
    expect(update).toMatchObject({ entries: long.map(({ priority }) => ({ priority })) });
    expect(Buffer.byteLength(encodeUpdateLine("s", update))).toBeLessThan(48 * 1024);
  });
});

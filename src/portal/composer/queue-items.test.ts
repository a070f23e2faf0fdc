import { describe, expect, it } from "vitest";
import type { SessionActions } from "../state/session-actions.ts";
import type { QueuedItem } from "../state/session-view.ts";
import { createQueueRow, describeImages } from "./queue-items.ts";

const content = [{ type: "text", text: "Also run the tests" }] as const;
const image = { type: "image", mediaType: "image/png", blobId: "b", bytes: 9 } as const;
const message: QueuedItem = {
  kind: "message",
  id: "msg_1",
  mode: "steer",
  content,
  principal: "ann",
  at: 1,
};

const reminder: Extract<QueuedItem, { readonly kind: "reminder" }> = {
  kind: "reminder",
  id: "rem_1",
  principal: "ann",
  at: 1,
  reminder: {
    body: "The file changed",
    tags: ["files"],
    mode: "finish_step",
    dedupeKey: "portal:1",
    roleHint: "system",
    authority: "contract",
    source: "bridge",
    propagate: "session",
  },
};

/** Actions which record the edits. */
function recordEdits() {
  const edits: unknown[] = [];
  const record = async (...edit: readonly unknown[]) => {
    edits.push(edit);
    return { ok: true, value: undefined } as const;
  };
  const actions: SessionActions = Object({ replaceMessage: record, remind: record });
  return { edits, actions };
}

describe("The pending queue", () => {
  it("A waiting message shows when it will reach the agent, and can be edited", async () => {
    const { edits, actions } = recordEdits();
    const { edit, ...row } = createQueueRow(message, "bob");
    expect(row).toEqual({
      id: "msg_1",
      label: "Steers this turn",
      text: "Also run the tests",
      images: 0,
      principal: "ann",
      tags: [],
    });
    await edit?.(actions, "Run nothing");
    expect(edits).toEqual([["msg_1", { text: "Run nothing" }]]);
    expect(createQueueRow({ ...message, mode: "queue" }, "bob").label).toBe("Next turn");
  });

  it("A message with images can only be revoked, because the page does not have their bytes", () => {
    const row = createQueueRow({ ...message, content: [...content, image] }, "ann");
    expect(row.edit).toBeUndefined();
    expect(describeImages(row)).toBe("1 image");
  });

  it("A prompt waits for its own turn and cannot be replaced", () => {
    const row = createQueueRow({ kind: "prompt", id: "p", content, principal: null, at: 1 }, "ann");
    expect([row.label, row.edit]).toEqual(["Next turn", undefined]);
  });

  it("A reminder is edited by a reminder with the same key, mode and tags", async () => {
    const { edits, actions } = recordEdits();
    const { edit, ...row } = createQueueRow(reminder, "ann");
    expect(row).toEqual({
      id: "rem_1",
      label: "Reminder",
      text: "The file changed",
      images: 0,
      principal: "ann",
      tags: ["files"],
    });
    await edit?.(actions, "Two files changed");
    const { dedupeKey, mode, tags } = reminder.reminder;
    expect(edits).toEqual([[{ body: "Two files changed", dedupeKey, mode, tags }]]);
  });

  it("A reminder of another principal, of another program or of the bridge cannot be edited", () => {
    const { reminder: own } = reminder;
    const host = { ...reminder, reminder: { ...own, dedupeKey: "host:1" } };
    const bridge = { ...reminder, reminder: { ...own, source: "stdlib_provider" as const } };
    const rows = [
      createQueueRow(reminder, "bob"),
      createQueueRow(reminder, null),
      createQueueRow(host, "ann"),
      createQueueRow({ ...bridge, principal: null }, "ann"),
    ];
    expect(rows.map(({ edit }) => edit)).toEqual([undefined, undefined, undefined, undefined]);
    expect(rows[3]?.principal).toBe("the bridge");
  });
});

import { describe, expect, it } from "vitest";
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

describe("The pending queue", () => {
  it("A waiting message shows when it will reach the agent, and can be edited", () => {
    expect(createQueueRow(message)).toEqual({
      id: "msg_1",
      label: "Steers this turn",
      text: "Also run the tests",
      images: 0,
      principal: "ann",
      tags: [],
      isEditable: true,
    });
    expect(createQueueRow({ ...message, mode: "queue" }).label).toBe("Next turn");
  });

  it("A message with images can only be revoked, because the page does not have their bytes", () => {
    const row = createQueueRow({ ...message, content: [...content, image] });
    expect(row.isEditable).toBe(false);
    expect(describeImages(row)).toBe("1 image");
  });

  it("A prompt waits for its own turn and cannot be replaced", () => {
    const row = createQueueRow({ kind: "prompt", id: "p", content, principal: null, at: 1 });
    expect([row.label, row.isEditable]).toEqual(["Next turn", false]);
  });

  it("A reminder shows its tags and whether the bridge made it", () => {
    const row = createQueueRow({
      kind: "reminder",
      id: "rem_1",
      at: 1,
      reminder: {
        body: "The file changed",
        tags: ["files"],
        mode: "finish_step",
        roleHint: "system",
        authority: "advisory",
        source: "stdlib_provider",
        propagate: "session",
      },
    });
    expect(row).toMatchObject({
      label: "Reminder",
      text: "The file changed",
      tags: ["files"],
      principal: "the bridge",
      isEditable: false,
    });
  });
});

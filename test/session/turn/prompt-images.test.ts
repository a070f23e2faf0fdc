import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { SubmittedPart } from "../../../src/domain/session-command.ts";
import { says, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, openWorld, type AgentParts } from "../../support/session/session-world.ts";
import { responds } from "../../support/server/model-server.ts";
import { localWorld } from "../../providers/local/local-world.ts";

const BYTES = Buffer.from("not really a picture");
const IMAGE: SubmittedPart = {
  type: "image",
  mediaType: "image/png",
  base64: BYTES.toString("base64"),
};
const BLOB = `blob_${createHash("sha256").update(BYTES).digest("hex")}`;
const KEPT = { type: "image", mediaType: "image/png", blobId: BLOB, bytes: BYTES.length };
const LOOK: SubmittedPart = { type: "text", text: "What is it?" };
const guest = { id: "guest", rights: ["approve"] } as const;

async function worldWith(parts: Partial<AgentParts>, takesImages = true) {
  const provider = createScriptedProvider([says("A cat."), says("A cat still.")], {
    ...(takesImages && { capabilities: { images: true } }),
    keepsHistory: false,
  });
  return { provider, world: await openWorld(createAgent({ provider, ...parts })) };
}

describe("Images in a prompt", () => {
  it("An agent without image support refuses an image by name, and nothing is stored [OR-62]", async () => {
    for (const [parts, takes] of [
      [{}, false],
      [{ images: "reject" }, true],
    ] as const) {
      const { world } = await worldWith(parts, takes);
      const before = await world.readLog();
      const reply = await world.send({ type: "prompt", content: [LOOK, IMAGE] });
      expect(reply).toMatchObject({
        failure: {
          code: "invalid_message",
          message: expect.stringContaining("does not accept images"),
        },
      });
      expect(await world.readLog()).toEqual(before);
      expect(await world.store.readBlob(world.sessionId, BLOB)).toBeUndefined();
    }
  });

  it("An image is stored once by its digest, and sent with every invocation to a stateless provider", async () => {
    const { provider, world } = await worldWith({});
    await world.send({ type: "prompt", content: [LOOK, IMAGE] });
    await world.waitForEvent("turn.finished");
    await world.send({ type: "prompt", content: [IMAGE] });
    await world.waitForEvent("turn.finished", 2);
    expect(await world.waitForEvent("prompt.accepted")).toMatchObject({ content: [LOOK, KEPT] });
    const storedBytes = await world.store.readBlob(world.sessionId, BLOB);
    expect(Buffer.from(storedBytes ?? []).equals(BYTES)).toBe(true);
    expect(provider.invocations[0]?.input).toEqual({
      type: "prompt",
      texts: ["What is it?"],
      images: [IMAGE],
    });
    expect(provider.invocations[1]?.input).toEqual({ type: "prompt", texts: [], images: [IMAGE] });
    expect(provider.invocations[1]?.history).toMatchObject([
      { role: "user", blocks: [LOOK, IMAGE] },
      { role: "assistant" },
    ]);
    expect(JSON.stringify(await world.readLog())).not.toContain(BYTES.toString("base64"));
  });

  it("An image becomes a text note if the agent is configured so", async () => {
    const { provider, world } = await worldWith({ images: "describe" }, false);
    await world.send({ type: "prompt", content: [LOOK, IMAGE] });
    await world.waitForEvent("turn.finished");
    const [promptText, note] = provider.invocations[0]?.input.texts ?? [];
    expect(promptText).toBe("What is it?");
    for (const fact of ["image/png", `${BYTES.length} bytes`, BLOB]) expect(note).toContain(fact);
    expect(provider.invocations[0]?.input).not.toHaveProperty("images");
  });

  it("An image becomes a text note if the agent no longer accepts images", async () => {
    const { world } = await worldWith({});
    await world.send({ type: "prompt", content: [LOOK, IMAGE] });
    await world.waitForEvent("turn.finished");
    const provider = createScriptedProvider([says("Oh.")], { keepsHistory: false });
    const next = await world.restart(createAgent({ provider }));
    await next.prompt("And now?");
    await next.waitForEvent("turn.finished", 2);
    expect(provider.invocations[0]?.history[0]).toMatchObject({ blocks: [LOOK, { type: "text" }] });
    expect(provider.invocations[0]?.input).toEqual({ type: "prompt", texts: ["And now?"] });
  });

  it.each<[string, readonly SubmittedPart[]]>([
    [
      "of a type no model accepts",
      [{ ...IMAGE, mediaType: "image/tiff" } as unknown as SubmittedPart],
    ],
    ["that is not base64", [{ ...IMAGE, base64: "???" }]],
    ["that is too large", [{ ...IMAGE, base64: "A".repeat(6_000_000) }]],
    ["among too many", Array.from({ length: 21 }, () => IMAGE)],
  ])("An image %s is refused", async (_, content) => {
    const { world } = await worldWith({});
    expect(await world.send({ type: "prompt", content })).toMatchObject({
      failure: { code: "invalid_message" },
    });
  });

  it("An image from a principal without the right to prompt is not stored", async () => {
    const { world } = await worldWith({});
    const reply = await world.send({ type: "prompt", content: [IMAGE] }, { principal: guest });
    expect(reply).toMatchObject({ failure: { code: "access_denied" } });
    expect(await world.store.readBlob(world.sessionId, BLOB)).toBeUndefined();
  });

  it("An image reaches the model of a local agent", async () => {
    const { world, server } = await localWorld("chat", [responds({ text: "A cat." })]);
    await world.send({ type: "prompt", content: [LOOK, IMAGE] });
    await world.waitForEvent("turn.finished");
    expect(JSON.stringify(server.modelRequests[0]?.messages)).toContain(
      `data:image/png;base64,${BYTES.toString("base64")}`,
    );
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeInitializeResult } from "../encode/encode-results.ts";
import { decodePrompt } from "./prompt-content.ts";

const PICTURE = Buffer.from("a picture").toString("base64");

function parts(...prompt: readonly unknown[]): unknown {
  const content = decodePrompt(prompt);
  return content.ok ? content.value : content.error;
}

function text(block: unknown): unknown {
  return parts(block);
}

function toTextParts(...texts: readonly string[]): unknown {
  return texts.map((one) => ({ type: "text", text: one }));
}

describe("Prompt content", () => {
  it("Offered block types are accepted and other types are rejected [ACP-65]", () => {
    const samples = {
      image: { type: "image", data: PICTURE, mimeType: "image/png" },
      audio: { type: "audio", data: PICTURE, mimeType: "audio/wav" },
      embeddedContext: { type: "resource", resource: { uri: "file:///a", text: "a" } },
    };
    const offered = encodeInitializeResult("1") as {
      agentCapabilities: { promptCapabilities: { [name: string]: boolean } };
    };
    for (const [name, block] of Object.entries(samples)) {
      const content = decodePrompt([block]);
      const isTaken = offered.agentCapabilities.promptCapabilities[name];
      expect([name, content.ok || content.error.code]).toEqual([name, isTaken || -32602]);
    }
  });

  it("Blocks are decoded in their order [ACP-65]", () => {
    const blocks = [
      { type: "text", text: "Look" },
      { type: "image", data: PICTURE, mimeType: "image/png" },
      { type: "text", text: "at it" },
    ];
    expect(parts(...blocks)).toEqual([
      { type: "text", text: "Look" },
      { type: "image", mediaType: "image/png", base64: PICTURE },
      { type: "text", text: "at it" },
    ]);
  });

  it("An image with a URI is preceded by its name [ACP-65]", () => {
    const block = { type: "image", data: PICTURE, mimeType: "image/png", uri: "file:///w/cat.png" };
    expect(parts(block)).toEqual([
      { type: "text", text: "Image cat.png (file:///w/cat.png):" },
      { type: "image", mediaType: "image/png", base64: PICTURE },
    ]);
  });

  it.each([
    ["is not an image type for models", { type: "image", data: PICTURE, mimeType: "image/tiff" }],
    ["is not in base64", { type: "image", data: "???", mimeType: "image/png" }],
    ["has no bytes", { type: "image", mimeType: "image/png" }],
    ["is too large", { type: "image", data: "A".repeat(5_100_000), mimeType: "image/png" }],
    ["is embedded and too large", resource({ blob: "A".repeat(5_100_000), mimeType: "image/png" })],
  ])("A prompt is rejected if its image %s [ACP-65]", (_, block) => {
    expect(parts(block)).toMatchObject({ code: -32602, message: expect.stringContaining("0") });
  });

  it("Embedded text keeps its name and URI [ACP-65]", () => {
    expect(text(resource({ uri: "file:///w/my%20notes.md", text: "one\ntwo" }))).toEqual(
      toTextParts(
        '<resource uri="file:///w/my%20notes.md" name="my notes.md">\none\ntwo\n</resource>',
      ),
    );
    expect(text(resource({ uri: 'a"\nb', text: "" }))).toEqual(
      toTextParts('<resource uri="a%22%0Ab" name="a%22%0Ab">\n\n</resource>'),
    );
  });

  it("Embedded bytes are passed on if they are an image and described otherwise [ACP-65]", () => {
    const picture = resource({ uri: "file:///w/cat.png", blob: PICTURE, mimeType: "image/png" });
    expect(parts(picture)).toEqual([
      { type: "text", text: "Image cat.png (file:///w/cat.png):" },
      { type: "image", mediaType: "image/png", base64: PICTURE },
    ]);
    const other = resource({ uri: "file:///w/a.pdf", blob: PICTURE, mimeType: "application/pdf" });
    expect(text(other)).toEqual(
      toTextParts(
        '<resource uri="file:///w/a.pdf" name="a.pdf">\n(application/pdf, 9 bytes. They cannot be shown here.)\n</resource>',
      ),
    );
  });

  it.each([
    [
      "file:///w/a%20b.ts#L3",
      "[a b.ts](file:///w/a%20b.ts#L3) (the file /w/a b.ts; its content is not in this message)",
    ],
    [
      "file:///C:/w/a.ts",
      "[a.ts](file:///C:/w/a.ts) (the file C:/w/a.ts; its content is not in this message)",
    ],
    [
      "https://example.com/a/",
      "[a](https://example.com/a/) (a URL; its content is not in this message)",
    ],
    [
      "zed:///agent/terminal",
      "[terminal](zed:///agent/terminal) (cannot be read from here; its content is not in this message)",
    ],
    [
      "file://server/share/a",
      "[a](file://server/share/a) (cannot be read from here; its content is not in this message)",
    ],
    [
      "no address",
      "[no address](no address) (cannot be read from here; its content is not in this message)",
    ],
  ])("The link %s is described as unread [ACP-66]", (uri, expected) => {
    expect(text({ type: "resource_link", uri })).toEqual(toTextParts(expected));
  });

  it("A link is formatted on a single line with the client's title [ACP-66]", () => {
    const uri = "https://example.com/";
    const link = { type: "resource_link", uri, name: "n", title: "A] title\nof two" };
    expect(text(link)).toEqual(
      toTextParts(
        "[A\\] title of two](https://example.com/) (a URL; its content is not in this message)",
      ),
    );
  });

  it("Any block is decoded or rejected without an exception [ACP-66]", () => {
    const uri = fc.oneof(
      fc.string(),
      fc.webUrl(),
      fc.string().map((rest) => `file:///${rest}`),
      fc.constantFrom("zed:", "file:", "file:///%", "file:///%E0%A4", "http://[", "data:,x", ""),
    );
    const blocks = fc.oneof(
      fc.record({ type: fc.constant("resource_link"), uri, name: fc.string() }),
      fc.record({ type: fc.constant("resource"), resource: fc.record({ uri, text: fc.string() }) }),
      fc.record({ type: fc.constant("resource"), resource: fc.record({ uri, blob: fc.string() }) }),
      fc.record({ type: fc.string(), uri: fc.anything(), resource: fc.anything() }),
      fc.anything(),
    );
    fc.assert(
      fc.property(fc.array(blocks, { minLength: 1, maxLength: 4 }), (prompt) => {
        const content = decodePrompt(prompt);
        return content.ok ? content.value.length >= prompt.length : content.error.code === -32602;
      }),
    );
  });
});

function resource(fields: object): object {
  return { type: "resource", resource: fields };
}

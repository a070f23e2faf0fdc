import { describe, expect, it } from "vitest";
import { createImageBlock, MAX_IMAGE_BYTES } from "./image-block.ts";

describe("createImageBlock", () => {
  it("An image block has a media type and base64 bytes", () => {
    expect(createImageBlock("image/png", "iVBORw==")).toEqual({
      type: "image",
      mediaType: "image/png",
      base64: "iVBORw==",
    });
  });

  it.each([
    ["another type", "image/tiff", "aaaa"],
    ["no bytes", "image/png", ""],
    ["text that is not base64", "image/png", "aa!a"],
    ["base64 of the other alphabet", "image/png", "aa-_"],
    ["padding before the end", "image/png", "aa=a"],
    ["padding alone", "image/png", "===="],
    ["too much padding", "image/png", "a==="],
    ["base64 that is cut", "image/png", "aaaaa"],
  ])("An image with %s is refused", (_, mediaType, base64) => {
    expect(() => createImageBlock(mediaType, base64)).toThrowError(
      expect.objectContaining({ code: "invalid_message" }),
    );
  });

  it("An image may have as many bytes as the strictest API accepts, and not one more", () => {
    const most = Buffer.alloc(MAX_IMAGE_BYTES);
    expect(createImageBlock("image/webp", most.toString("base64")).base64).toHaveLength(5_000_000);
    const more = Buffer.alloc(MAX_IMAGE_BYTES + 1).toString("base64");
    expect(() => createImageBlock("image/webp", more)).toThrowError("3750000 bytes");
  });
});

import { describe, expect, it } from "vitest";
import {
  chooseFiles,
  findImageRefusal,
  findMessageProblem,
  type OfferedFile,
} from "./attachments.ts";

function image(name: string, size = 1000, type = "image/png"): OfferedFile {
  return { name, type, size };
}

describe("The images of a message", () => {
  it("Images of every supported type are accepted", () => {
    const files = ["png", "jpeg", "gif", "webp"].map((type) => image(type, 1, `image/${type}`));
    expect(chooseFiles([], files)).toEqual({ accepted: files, problems: [] });
  });

  it("Each refused file is named with its reason, and the others are accepted", () => {
    const good = image("good.png");
    const offered = [
      image("notes.pdf", 10, "application/pdf"),
      image("logo.svg", 10, "image/svg+xml"),
      image("empty.png", 0),
      image("huge.png", 4_200_000),
      good,
    ];
    expect(chooseFiles([], offered)).toEqual({
      accepted: [good],
      problems: [
        "notes.pdf is not a supported image: expected PNG, JPEG, GIF or WebP",
        "logo.svg is not a supported image: expected PNG, JPEG, GIF or WebP",
        "empty.png is empty",
        "huge.png is too large (4.2 MB): expected at most 3.8 MB. Fix: make it smaller",
      ],
    });
  });

  it("A message has at most 5 images, together with those attached before", () => {
    const attached = [image("a"), image("b"), image("c"), image("d")];
    const { accepted, problems } = chooseFiles(attached, [image("e"), image("f")]);
    expect(accepted.map(({ name }) => name)).toEqual(["e"]);
    expect(problems).toEqual(["f was left out: a message has at most 5 images"]);
  });

  it("The total counts the images as they are sent, in base64", () => {
    const { accepted, problems } = chooseFiles([image("a", 3_700_000)], [image("b", 3_700_000)]);
    expect(accepted).toEqual([]);
    expect(problems).toEqual(["b was left out: a message has at most 8.0 MB in total"]);
  });

  it("A text that is too long is refused before it is sent", () => {
    expect(findMessageProblem("a".repeat(500_001), [])).toContain("500001 characters");
    expect(
      findMessageProblem("a".repeat(400_000), [image("a", 3_700_000), image("b", 2e6)]),
    ).toContain("too large");
    expect(findMessageProblem("hello", [image("a")])).toBeUndefined();
  });

  it("A page shows that the agent rejects images before an image is chosen", () => {
    const provider = { name: "p", injectionPoints: [], effectFree: false, canStop: true };
    expect(findImageRefusal({ provider })).toBe("This agent does not accept images");
    expect(findImageRefusal({ provider, images: "describe" })).toBeUndefined();
    const capable = { ...provider, capabilities: { images: true } } as const;
    expect(findImageRefusal({ provider: capable })).toBeUndefined();
    expect(findImageRefusal({ provider: capable, images: "reject" })).toBeDefined();
    expect(findImageRefusal(null)).toBeUndefined();
  });
});

import { describe, expect, it } from "vitest";
import { foldACapture } from "./01-fold-a-capture.ts";

describe("the examples", () => {
  it("01 folds a capture and builds the answer to its calls", async () => {
    let written = "";
    await foldACapture((text) => (written += text));
    expect(written).toMatch(/^Let me look at your order\.\nYour trail shoes/);
  });
});

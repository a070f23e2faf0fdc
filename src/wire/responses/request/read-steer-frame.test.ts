import { expect, it } from "vitest";
import { readSteerFrame } from "./read-steer-frame.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

it("A steer frame has the text and images of all its user messages [OR-76]", () => {
  const image = { type: "input_image", image_url: `data:image/png;base64,${PIXEL}` };
  const frame = {
    type: "response.steer",
    previous_response_id: "resp_1",
    input: [
      { type: "message", role: "user", content: [{ type: "input_text", text: "Like" }, image] },
      { role: "user", content: "this" },
    ],
  };
  expect(readSteerFrame(frame)).toEqual({
    previousResponseId: "resp_1",
    content: [
      { type: "text", text: "Like" },
      expect.objectContaining({ type: "image" }),
      { type: "text", text: "this" },
    ],
  });
});

import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createTail } from "./stdio-transport.ts";

it("The tail of a stream contains its last bytes, for any chunk boundaries", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme-ascii" })), (pieces) => {
      const tail = createTail(10);
      for (const piece of pieces) tail.add(Buffer.from(piece));
      expect(tail.text()).toBe(pieces.join("").slice(-10));
    }),
  );
});

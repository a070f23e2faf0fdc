import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toModelName, toServerPrefix } from "./model-name.ts";

describe("Model names of MCP tools", () => {
  it.each([
    ["github", "create_issue", "github__create_issue"],
    ["git hub", "a-b", "git_hub__a-b"],
    ["a__b", "c", "a_b__c"],
    ["a", "", "a___12ae32cb"],
    ["a", "x y", "a__x_y_12effa9e"],
    ["日本", "t", "server_ac3da3e9__t"],
    ["a-very-long-name-of-a-server", "t", "a-very-long-nam_119d8224__t"],
  ])("The model name of server %j and tool %j is %j", (server, tool, name) => {
    expect(toModelName(server, tool)).toBe(name);
  });

  it("A model name has characters and a length accepted by all providers, and identifies its server", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (server, tool) => {
        const name = toModelName(server, tool);
        expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        expect(name.slice(0, name.indexOf("__"))).toBe(toServerPrefix(server));
      }),
    );
  });

  it("Different tools have different model names", () => {
    const long = fc.string({ unit: fc.constantFrom("a", "b", " ", "_", "é"), maxLength: 100 });
    fc.assert(
      fc.property(long, long, (one, other) => {
        fc.pre(one !== other);
        expect(toModelName("s", one)).not.toBe(toModelName("s", other));
      }),
    );
  });
});

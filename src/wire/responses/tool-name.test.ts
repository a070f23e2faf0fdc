import { describe, expect, it } from "vitest";
import { describeTool } from "./tool-name.ts";

describe("The description of a caller's tool", () => {
  it("The description of the caller is used unchanged", () => {
    expect(describeTool("get_weather", " Tells it ")).toBe(" Tells it ");
  });

  it.each([
    ["get_weather", "Get weather"],
    ["getWeather-now", "Get weather now"],
    ["HTTPGet2", "HTTP get2"],
    ["look", "Look"],
    ["__", "__"],
  ])("A missing description is derived from the name: %s", (name, made) => {
    for (const description of [undefined, null, "", " \n"])
      expect(describeTool(name, description)).toBe(made);
  });
});

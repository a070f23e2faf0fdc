import { describe, expect, it } from "vitest";
import { describeTool } from "./tool-name.ts";

describe("what an agent is told of a caller's tool", () => {
  it("is what the caller says", () => {
    expect(describeTool("get_weather", " Tells it ")).toBe(" Tells it ");
  });

  it.each([
    ["get_weather", "Get weather"],
    ["getWeather-now", "Get weather now"],
    ["HTTPGet2", "HTTP get2"],
    ["look", "Look"],
    ["__", "__"],
  ])("is made of its name where the caller says nothing: %s", (name, made) => {
    for (const said of [undefined, null, "", " \n"]) expect(describeTool(name, said)).toBe(made);
  });
});

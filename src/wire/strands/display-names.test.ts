import { describe, expect, it } from "vitest";
import { formatAnnouncedName, resolveDisplayName } from "./display-names.ts";

describe("Display names of tools", () => {
  it("The three AWS Knowledge tools have display names [AC-102]", () => {
    expect([
      resolveDisplayName("aws___search_documentation"),
      resolveDisplayName("aws___read_documentation"),
      resolveDisplayName("aws___recommend"),
    ]).toEqual([
      "🔍 AWS Documentation Search",
      "📖 AWS Documentation Reader",
      "💡 AWS Documentation Recommendations",
    ]);
  });

  it("A display name matches by prefix and by part of the tool's name [AC-102]", () => {
    expect(resolveDisplayName("aws___knowledge_search_documentation_v2")).toBe(
      "🔍 AWS Documentation Search",
    );
    expect(resolveDisplayName("my_search_documentation")).toBe("my_search_documentation");
    expect(resolveDisplayName("aws___other")).toBe("aws___other");
  });

  it("A tool without a name is displayed as Unknown Tool [AC-102]", () => {
    expect([
      resolveDisplayName(undefined),
      resolveDisplayName(""),
      formatAnnouncedName(undefined),
    ]).toEqual(["Unknown Tool", "Unknown Tool", "Unknown Tool"]);
  });

  it("The name announced by an app is marked with an icon [AC-102]", () => {
    expect(formatAnnouncedName("AWS Documentation Search")).toBe("🔧 AWS Documentation Search");
  });

  it("Additional names from a table or a function take precedence [AC-102]", () => {
    const table = [{ prefix: "get_", includes: "weather", label: "🌦 Weather" }];
    expect(resolveDisplayName("get_weather_today", table)).toBe("🌦 Weather");
    expect(resolveDisplayName("aws___recommend", table)).toBe(
      "💡 AWS Documentation Recommendations",
    );
    const mine = (name: string): string | undefined =>
      name === "aws___recommend" ? "Mine" : undefined;
    expect([
      resolveDisplayName("aws___recommend", mine),
      resolveDisplayName("other", mine),
    ]).toEqual(["Mine", "other"]);
  });
});

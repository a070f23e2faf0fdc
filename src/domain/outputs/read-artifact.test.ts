import {
  array,
  assert,
  constantFrom,
  jsonValue,
  oneof,
  property,
  record,
  string,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { readArtifactRequest } from "./read-artifact.ts";

function problemOf(value: unknown): string | undefined {
  const artifact = readArtifactRequest(value);
  return artifact.ok ? undefined : artifact.problem;
}

const CHART = {
  mark: "bar",
  title: "Sales",
  data: { values: [{ region: "A", count: 2, site: "https://example.com" }] },
  encoding: { x: { field: "region" }, y: { field: "count" } },
};
const table = (columns: unknown, rows: unknown) => ({ kind: "table", spec: { columns, rows } });
const diagram = (code: unknown) => ({ kind: "mermaid", spec: code });
const file = (spec: object) => ({ kind: "file", spec });

describe("Artifact requests", () => {
  it("Each kind is accepted, gets a text fallback, and the code of a diagram becomes its spec", () => {
    const requests = [
      { kind: "vega-lite", spec: CHART },
      diagram("%% a comment\nflowchart TD\n  A --> B"),
      table(["name", { key: "count" }], [["a", 2], { name: "b", count: null }]),
      file({ uri: "file:///work/report.pdf", name: "report.pdf" }),
      { kind: "artifact_manifest", spec: { artifacts: [{ uri: "urn:x:1", title: "One" }] } },
    ];
    const artifacts = requests.map(readArtifactRequest);
    expect(
      artifacts.map((read) => (read.ok ? [read.artifact.kind, read.artifact.fallback] : read)),
    ).toEqual([
      ["vega-lite", "Sales (bar chart)"],
      ["mermaid", "%% a comment\nflowchart TD\n  A --> B"],
      ["table", "name | count\na | 2\nb | "],
      ["file", "File: report.pdf (file:///work/report.pdf)"],
      ["artifact_manifest", "Artifacts\n- One (urn:x:1)"],
    ]);
    expect(artifacts[1]).toMatchObject({
      artifact: { spec: { code: "%% a comment\nflowchart TD\n  A --> B" }, sizeBytes: 48 },
    });
  });

  it.each<readonly [name: string, value: unknown, problem: string]>([
    ["an unknown kind", { kind: "html", spec: {} }, 'kind is "html"'],
    ["an unknown option", { ...diagram("pie"), colour: 1 }, '"colour" is not an option'],
    ["the option __proto__", JSON.parse('{"kind":"file","__proto__":1}'), '"__proto__" is not an'],
    ["no spec", { kind: "table" }, "spec is missing"],
    [
      "a spec above 256 KiB",
      file({ uri: "urn:x", name: "x".repeat(300_000) }),
      "expected at most 262144",
    ],
    ["a limit above 1 MiB", { ...diagram("pie"), max_bytes: 1_048_577 }, "expected 1 to 1048576"],
    [
      "a spec above its own limit",
      { ...diagram("flowchart TD"), max_bytes: 10 },
      "spec has 14 bytes: expected at most 10",
    ],
    [
      "a string above 64 KiB",
      diagram(`pie\n${"x".repeat(65_536)}`),
      "spec has more than 65536 bytes",
    ],
    [
      "a fallback above 64 KiB",
      { ...diagram("pie"), fallback: "é".repeat(33_000) },
      "fallback has more than 65536",
    ],
    [
      "metadata above 64 KiB",
      { ...diagram("pie"), metadata: { x: "y".repeat(70_000) } },
      "metadata has 70008 bytes",
    ],
    ["metadata which is no object", { ...diagram("pie"), metadata: [] }, "metadata is an array"],
    ["a table without columns", table([], []), "spec.columns is empty"],
    [
      "51 columns",
      table(Array.from({ length: 51 }, String), []),
      "spec.columns has 51 items: expected at most 50",
    ],
    [
      "501 rows",
      table(
        ["a"],
        Array.from({ length: 501 }, () => [1]),
      ),
      "spec.rows has 501 items: expected at most 500",
    ],
    [
      "a row with too many cells",
      table(["a"], [[1, 2]]),
      "spec.rows[0] has 2 cells: expected at most 1",
    ],
    ["a row which is no row", table(["a"], ["x"]), 'spec.rows[0] is "x"'],
    [
      "a column without a name",
      table([{ width: 3 }], []),
      "spec.columns[0] is an object: expected a name",
    ],
    [
      "external data",
      { kind: "vega-lite", spec: { ...CHART, data: { url: "x.csv" } } },
      "spec.data.url is an external reference",
    ],
    [
      "a link in a chart",
      { kind: "vega-lite", spec: { ...CHART, encoding: { href: { field: "site" } } } },
      "spec.encoding.href is an external reference",
    ],
    [
      "another schema",
      { kind: "vega-lite", spec: { ...CHART, $schema: "https://evil.example/x" } },
      "spec.$schema is",
    ],
    ["no chart", { kind: "vega-lite", spec: { data: {} } }, "spec is not a chart"],
    ["no diagram", diagram("notDiagram TD"), 'the first line of spec.code is "notDiagram"'],
    [
      "a link in a diagram",
      diagram('graph TD\nclick A "https://evil.example"'),
      "external reference",
    ],
    [
      "a script in a diagram",
      diagram("graph TD\nA[<ScRiPt>alert(1)</script>]"),
      "active content (<script)",
    ],
    [
      "a script link",
      table(["a"], [["[x](java\nscript:alert(1))"]]),
      "active content (javascript:)",
    ],
    [
      "a hidden script link",
      table(["a"], [["java\u200bscript:alert(1)"]]),
      "active content (javascript:)",
    ],
    ["an event handler", table(["<img onerror=x>"], []), "active content (onerror=)"],
    ["an active key", table(["a"], [{ "<svg>": 1 }]), "active content (<svg)"],
    [
      "an http file",
      file({ uri: "https://example.com/x" }),
      "expected a reference with file:, artifact: or urn:",
    ],
    ...[
      "file://evil.example/share/x",
      "FILE://evil.example/x",
      "file:////evil.example/x",
      "file:\\\\evil.example\\x",
      "file:/\\evil.example\\x",
      "file:///\\evil.example\\x",
      "file://localhost//evil.example/x",
      "file://user@localhost/x",
    ].map((uri) => [`the file ${uri}`, file({ uri }), "expected a file of this machine"] as const),
    ["a line break in a reference", file({ uri: "urn:x\ny" }), "expected a reference"],
    ["a hidden character in a reference", file({ uri: "urn:x\u202ey" }), "expected a reference"],
    ...[
      "../../.bashrc",
      "a/b",
      "a\\b",
      "..",
      "a\u0000b",
      "a\u202eexe.pdf",
      "",
      "x".repeat(256),
      7,
    ].map(
      (name) =>
        [
          `the file name ${JSON.stringify(name)}`,
          file({ uri: "urn:x", name }),
          "expected the name of a file, without a folder",
        ] as const,
    ),
    [
      "a MIME type with a header",
      file({ uri: "urn:x", mime_type: "text/html\r\nx: y" }),
      "expected a MIME type",
    ],
    ["a negative size", file({ uri: "urn:x", size_bytes: -1 }), "expected a number of bytes"],
    ["a short digest", file({ uri: "urn:x", sha256: "ab" }), "expected 64 hexadecimal digits"],
    ["a description of another type", file({ uri: "urn:x", description: {} }), "expected a string"],
    [
      "an entry with a path as its name",
      { kind: "artifact_manifest", spec: { artifacts: [{ uri: "urn:x", name: "../x" }] } },
      'spec.artifacts[0].name is "../x"',
    ],
    [
      "a summary of another type",
      { kind: "artifact_manifest", spec: { artifacts: [], summary: [] } },
      "spec.summary is an array",
    ],
    ["a title with markup", { ...diagram("pie"), title: "<script>x" }, "title has active content"],
    ["a long title", { ...diagram("pie"), title: "x".repeat(501) }, "at most 500 characters"],
    ["a data URL", file({ uri: "data:text/plain,x" }), "expected a reference"],
    ["inline bytes", file({ uri: "file:///x", data: "AAAA" }), 'spec has the unknown field "data"'],
    [
      "an entry without a reference",
      { kind: "artifact_manifest", spec: { artifacts: [{ title: "x" }] } },
      "spec.artifacts[0].uri is missing",
    ],
    [
      "nesting that is too deep",
      { kind: "table", spec: nest(70) },
      "spec is nested deeper than 64 levels",
    ],
  ])("A request with %s is refused with the reason", (_, value, problem) => {
    expect(problemOf(value)).toContain(problem);
  });

  it.each([
    "file:///work/my%20report.pdf",
    "file:///work/my report.pdf",
    "file://localhost/work/a",
    "file:/work/a",
    "file:src/a.ts",
    "file:C:\\work\\a",
    "artifact:artifact_1",
    "urn:isbn:1",
  ])("The reference %s is accepted", (uri) => {
    expect(
      problemOf(file({ uri, name: "my report.pdf", mime_type: "text/plain" })),
    ).toBeUndefined();
  });

  it("A title is one line without hidden characters", () => {
    const title = " Sales\n\u001b[31m of \u202e\u200b2026\u0007 ";
    expect(readArtifactRequest({ ...diagram("pie"), title })).toMatchObject({
      artifact: { title: "Sales [31m of 2026" },
    });
    expect(readArtifactRequest({ ...diagram("pie"), title: "\u0000\n" })).toMatchObject({
      artifact: { title: null },
    });
  });

  it("Any JSON value is read or refused, and an accepted artifact is within all limits", () => {
    const specs = jsonValue({ maxDepth: 6 });
    const requests = record(
      {
        kind: constantFrom("vega-lite", "mermaid", "table", "file", "artifact_manifest", "x"),
        spec: oneof(
          specs,
          record({ columns: array(specs), rows: array(specs) }),
          record({ code: string() }),
        ),
        title: specs,
        fallback: specs,
        metadata: specs,
      },
      { requiredKeys: ["kind"] },
    );
    assert(
      property(oneof(requests, specs), (value) => {
        const read = readArtifactRequest(value);
        if (!read.ok) return read.problem !== "";
        const { spec, sizeBytes, fallback } = read.artifact;
        return sizeBytes === Buffer.byteLength(JSON.stringify(spec)) && fallback.length <= 65_536;
      }),
      { numRuns: 2000 },
    );
  });
});

function nest(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

import { toSingleLine } from "../../inspect/trace-style.ts";
import type { Endpoint, Harness } from "../../provisioning/control-client.ts";
import type { HarnessHandle } from "../../provisioning/harness-handle.ts";

export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Returns the fields of a harness that programs need, without fields only the service uses. */
export function summarizeHarness({
  name,
  id,
  arn,
  status,
  version,
  createdAt,
  updatedAt,
}: Harness) {
  return { name, id, arn, status, version, createdAt, updatedAt };
}

export function formatHandle({ name, arn, id, endpoint }: HarnessHandle): string {
  return formatFacts(name, [
    ["arn", arn],
    ["id", id],
    ["endpoint", endpoint],
  ]);
}

export function formatHarness(harness: Harness, endpoints: readonly Endpoint[]): string {
  const { name, arn, id, status, version, createdAt, updatedAt, failureReason } = harness;
  return formatFacts(name, [
    ["status", status],
    ["reason", failureReason],
    ["arn", arn],
    ["id", id],
    ["version", version],
    ["created", createdAt],
    ["updated", updatedAt],
    ...endpoints.map(formatEndpoint),
  ]);
}

function formatEndpoint(endpoint: Endpoint): Fact {
  const { name, status, liveVersion, targetVersion, failureReason } = endpoint;
  const moving =
    targetVersion !== null && targetVersion !== liveVersion ? ` → ${targetVersion}` : "";
  const serves = liveVersion === null ? "" : `, version ${liveVersion}${moving}`;
  const reason = failureReason === null ? "" : `: ${failureReason}`;
  return ["endpoint", `${name} ${status ?? "without a status"}${serves}${reason}`];
}

type Fact = readonly [name: string, value: string | null];

function formatFacts(title: string, all: readonly Fact[]): string {
  const lines = all.flatMap(([name, value]) =>
    value === null ? [] : [`  ${name.padEnd(8)}  ${toSingleLine(value)}`],
  );
  return `${[toSingleLine(title), ...lines].join("\n")}\n`;
}

/** Formats one line per harness, in columns. */
export function formatTable(harnesses: readonly Harness[]): string {
  const rows = [
    ["NAME", "STATUS", "VERSION", "UPDATED", "ID"],
    ...harnesses.map(({ name, status, version, updatedAt, id }) =>
      [name, status, version, updatedAt, id].map((cell) => toSingleLine(cell ?? "-")),
    ),
  ];
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  return `${rows.map(line).join("\n")}\n`;
}

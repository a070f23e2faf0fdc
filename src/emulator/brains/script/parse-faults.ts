import type { FailStep } from "../step.ts";
import type { Amount, ScenarioNode } from "./scenario-node.ts";
import type { ScriptFaults } from "./scenario.ts";

const FAULT_NAMES = [
  "drip",
  "silenceAfter",
  "resetAtByte",
  "flipFrame",
  "truncate",
  "exception",
  "error",
  "prefix",
  "untypedFrame",
  "reuseIndex",
  "omit",
  "padding",
  "contentType",
];

export function parseFaults(node: ScenarioNode): ScriptFaults {
  if (node.isPresent) node.readObject(FAULT_NAMES);
  const readOptional = <Value>(name: string, read: (at: ScenarioNode) => Value): Value | null => {
    const at = node.member(name);
    return at.isPresent ? read(at) : null;
  };
  const amount = (name: string): Amount | null => readOptional(name, (at) => at.readAmount());
  return {
    drip: readOptional("drip", parseDrip),
    silenceAfter: amount("silenceAfter"),
    resetAtByte: amount("resetAtByte"),
    flipFrame: amount("flipFrame"),
    truncate: readOptional("truncate", (at) => {
      at.readObject(["frame", "bytes"]);
      return { frame: at.member("frame").readAmount(), bytes: at.member("bytes").readAmount() };
    }),
    exception: readOptional("exception", (at) => ({
      frame: at.member("frame").isPresent ? at.member("frame").readAmount() : 0,
      failure: parseFailure(at, ["frame"]),
    })),
    error: readOptional("error", (at) => {
      at.readObject(["frame", "code", "message"]);
      return {
        frame: at.member("frame").isPresent ? at.member("frame").readAmount() : 0,
        code: at.member("code").readText(),
        message: at.member("message").readOptionalText() ?? null,
      };
    }),
    prefix: readOptional("prefix", (at) => {
      at.readObject(["frame", "length"]);
      return {
        frame: at.member("frame").readAmount(),
        length: at.member("length").readWholeNumber({ max: 2 ** 32 - 1 }),
      };
    }),
    untypedFrame: amount("untypedFrame"),
    reuseIndex: node.member("reuseIndex").readFlag(),
    omit: readOptional("omit", (at) => at.readList().map((name) => name.readText())) ?? [],
    padding: readOptional("padding", (at) => at.readAmount({ max: MAX_PADDING })),
    contentType: readOptional("contentType", (at) => at.readHeaderText()),
  };
}

/** Far more than Bedrock sends, and small enough for any client. */
const MAX_PADDING = 1_000_000;

/** A plain number is short for `bytes`. */
function parseDrip(node: ScenarioNode): NonNullable<ScriptFaults["drip"]> {
  if (typeof node.value === "number") return { bytes: node.readWholeNumber(), milliseconds: 0 };
  node.readObject(["bytes", "milliseconds"]);
  const milliseconds = node.member("milliseconds");
  return {
    bytes: node.member("bytes").readAmount(),
    milliseconds: milliseconds.isPresent ? milliseconds.readAmount() : 0,
  };
}

/** A stream exception, with a known or an unknown type. */
export function parseFailure(node: ScenarioNode, extraNames: readonly string[] = []): FailStep {
  node.readObject(["type", "message", "members", ...extraNames]);
  const members = node.member("members");
  return {
    type: "fail",
    exception: node.member("type").readText(),
    message: node.member("message").readOptionalText() ?? "The script fails here",
    ...(members.isPresent ? { members: members.readMembers() } : {}),
  };
}

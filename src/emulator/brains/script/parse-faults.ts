import type { FailStep } from "../step.ts";
import type { Amount, Spot } from "./reader.ts";
import type { ScriptFaults } from "./scenario.ts";

const NAMES = [
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

export function parseFaults(spot: Spot): ScriptFaults {
  if (spot.isGiven) spot.object(NAMES);
  const given = <Value>(name: string, read: (at: Spot) => Value): Value | null => {
    const at = spot.at(name);
    return at.isGiven ? read(at) : null;
  };
  const amount = (name: string): Amount | null => given(name, (at) => at.amount());
  return {
    drip: given("drip", parseDrip),
    silenceAfter: amount("silenceAfter"),
    resetAtByte: amount("resetAtByte"),
    flipFrame: amount("flipFrame"),
    truncate: given("truncate", (at) => {
      at.object(["frame", "bytes"]);
      return { frame: at.at("frame").amount(), bytes: at.at("bytes").amount() };
    }),
    exception: given("exception", (at) => ({
      frame: at.at("frame").isGiven ? at.at("frame").amount() : 0,
      failure: parseFailure(at, ["frame"]),
    })),
    error: given("error", (at) => {
      at.object(["frame", "code", "message"]);
      return {
        frame: at.at("frame").isGiven ? at.at("frame").amount() : 0,
        code: at.at("code").text(),
        message: at.at("message").optionalText() ?? null,
      };
    }),
    prefix: given("prefix", (at) => {
      at.object(["frame", "length"]);
      return {
        frame: at.at("frame").amount(),
        length: at.at("length").wholeNumber({ most: 2 ** 32 - 1 }),
      };
    }),
    untypedFrame: amount("untypedFrame"),
    reuseIndex: spot.at("reuseIndex").isOn(),
    omit: given("omit", (at) => at.list().map((name) => name.text())) ?? [],
    padding: given("padding", (at) => at.amount({ most: MOST_PADDING })),
    contentType: given("contentType", (at) => at.headerText()),
  };
}

/** Far more than Bedrock sends, and no more than a client has room for. */
const MOST_PADDING = 1_000_000;

/** A number alone is the short form of `bytes`. */
function parseDrip(spot: Spot): NonNullable<ScriptFaults["drip"]> {
  if (typeof spot.value === "number") return { bytes: spot.wholeNumber(), milliseconds: 0 };
  spot.object(["bytes", "milliseconds"]);
  const milliseconds = spot.at("milliseconds");
  return {
    bytes: spot.at("bytes").amount(),
    milliseconds: milliseconds.isGiven ? milliseconds.amount() : 0,
  };
}

/** An exception of the stream, modelled by the service or not. */
export function parseFailure(spot: Spot, besides: readonly string[] = []): FailStep {
  spot.object(["type", "message", "members", ...besides]);
  const members = spot.at("members");
  return {
    type: "fail",
    exception: spot.at("type").text(),
    message: spot.at("message").optionalText() ?? "The script fails here",
    ...(members.isGiven ? { members: members.members() } : {}),
  };
}

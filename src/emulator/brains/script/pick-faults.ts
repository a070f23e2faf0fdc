import type { Faults } from "../../faults.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { Amount } from "./scenario-node.ts";
import type { ScriptFaults } from "./scenario.ts";

/** Resolves the faults of a script. The seed picks every number given as a range. */
export function pickFaults(faults: ScriptFaults, random: SeededRandom): Faults {
  const pick = (amount: Amount): number => pickAmount(amount, random);
  const { drip, truncate, exception, error, prefix } = faults;
  const { silenceAfter, resetAtByte, flipFrame, untypedFrame, padding, contentType } = faults;
  return {
    ...(drip === null
      ? {}
      : { drip: { bytes: Math.max(1, pick(drip.bytes)), milliseconds: pick(drip.milliseconds) } }),
    ...(silenceAfter === null ? {} : { silenceAfter: pick(silenceAfter) }),
    ...(resetAtByte === null ? {} : { resetAtByte: pick(resetAtByte) }),
    ...(flipFrame === null ? {} : { flipFrame: pick(flipFrame) }),
    ...(truncate === null
      ? {}
      : { truncate: { frame: pick(truncate.frame), bytes: pick(truncate.bytes) } }),
    ...(exception === null
      ? {}
      : { exception: { frame: pick(exception.frame), failure: exception.failure } }),
    ...(error === null
      ? {}
      : {
          error: {
            frame: pick(error.frame),
            code: error.code,
            ...(error.message === null ? {} : { message: error.message }),
          },
        }),
    ...(prefix === null ? {} : { prefix: { frame: pick(prefix.frame), length: prefix.length } }),
    ...(untypedFrame === null ? {} : { untypedFrame: pick(untypedFrame) }),
    ...(faults.reuseIndex ? { reuseIndex: true } : {}),
    ...(faults.omit.length === 0 ? {} : { omit: faults.omit }),
    ...(padding === null ? {} : { padding: pick(padding) }),
    ...(contentType === null ? {} : { contentType }),
  };
}

export function pickAmount(amount: Amount, random: SeededRandom): number {
  return typeof amount === "number" ? amount : random.between(amount[0], amount[1]);
}

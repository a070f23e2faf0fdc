import { integer, object, oneOf, optional, string } from "../../data/schema-reader.ts";
import { COMPACTION_STRATEGIES } from "./compaction.ts";

const KEEP_LAST = optional(integer({ min: 0 }));
const INSTRUCTIONS = optional(string({ isFilled: true, max: 16 * 1024 }));

/** The compaction settings of an agent. */
export const COMPACTION_SCHEMA = object({
  strategy: optional(oneOf(COMPACTION_STRATEGIES)),
  thresholdTokens: optional(integer({ min: 1 })),
  keepLast: KEEP_LAST,
  hardLimitTokens: optional(integer({ min: 1 })),
  instructions: INSTRUCTIONS,
});

/** The settings of a single compaction on command. */
export const COMPACTION_OPTIONS_SCHEMA = object({
  strategy: optional(oneOf(["truncate", "summarize_middle", "summarize_all", "hybrid"])),
  keepLast: KEEP_LAST,
  instructions: INSTRUCTIONS,
});

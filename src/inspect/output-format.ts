/** Output formats of an inspection. */
export const OUTPUT_FORMATS = ["text", "json", "events", "open-responses"] as const;

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

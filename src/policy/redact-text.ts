import { RE2JS } from "re2js";
import type { ProjectionSpec } from "../domain/transcript/projection.ts";

/** Replaces secrets in a text. Returns the same text and 0 if there are none. */
export type RedactText = (text: string) => { readonly text: string; readonly count: number };

/** Creates a redactor whose matching takes linear time. Undefined if nothing is to be redacted. */
export function createTextRedactor({
  redact = [],
  redactSecrets = false,
}: ProjectionSpec): RedactText | undefined {
  const sources = [...redact, ...(redactSecrets ? SECRET_PATTERNS : [])];
  if (sources.length === 0) return undefined;
  const patterns = sources.map((source) => RE2JS.compile(source));
  return (text) => {
    let count = 0;
    let redactedText = text;
    for (const pattern of patterns) {
      const matcher = pattern.matcher(redactedText);
      let end = 0;
      const parts: string[] = [];
      while (matcher.find()) {
        // A pattern which matches the empty string would redact between all characters.
        if (matcher.end() === matcher.start()) continue;
        parts.push(redactedText.slice(end, matcher.start()), REDACTED);
        end = matcher.end();
        count += 1;
      }
      if (end > 0) redactedText = parts.join("") + redactedText.slice(end);
    }
    return { text: redactedText, count };
  };
}

/** Returns why a pattern cannot be used. Undefined for a valid pattern. */
export function findPatternProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const REDACTED = "[redacted]";

/** Keys and tokens with a recognizable form: AWS, GitHub, GitLab, Slack, OpenAI and Anthropic keys, JWTs, private keys. */
const SECRET_PATTERNS = [
  String.raw`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`,
  String.raw`\bgh[pousr]_[0-9A-Za-z]{36,}\b`,
  String.raw`\bgithub_pat_[0-9A-Za-z_]{22,}\b`,
  String.raw`\bglpat-[0-9A-Za-z_-]{20,}`,
  String.raw`\bxox[abposr]-[0-9A-Za-z-]{10,}`,
  String.raw`\bsk-[0-9A-Za-z_-]{20,}`,
  String.raw`\beyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]*`,
  String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----`,
];

import { formatIsoTime } from "../text/format-iso-time.ts";

const MAX_SKEW_MINUTES = 5;
const MAX_SKEW_MS = MAX_SKEW_MINUTES * 60 * 1000;

/** What the service says of a signature that is too old or too new; undefined when it is neither. */
export function describeSkew(signedAt: number, now: number): string | undefined {
  const [signedTime, current] = [formatBasicTime(signedAt), formatBasicTime(now)];
  if (signedAt < now - MAX_SKEW_MS) {
    const earliest = formatBasicTime(now - MAX_SKEW_MS);
    return `Signature expired: ${signedTime} is now earlier than ${earliest} (${current} - ${MAX_SKEW_MINUTES} min.)`;
  }
  if (signedAt > now + MAX_SKEW_MS) {
    const latest = formatBasicTime(now + MAX_SKEW_MS);
    return `Signature not yet current: ${signedTime} is still later than ${latest} (${current} + ${MAX_SKEW_MINUTES} min.)`;
  }
  return undefined;
}

/** Of `20240229T235959Z` or of an HTTP date. */
export function parseTime(text: string): number | undefined {
  const extended = text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");
  const time = Date.parse(extended);
  return Number.isNaN(time) ? undefined : time;
}

/** `20240229T235959Z`, the form that signatures use. */
export function formatBasicTime(milliseconds: number): string {
  return formatIsoTime(milliseconds).replaceAll(/[-:]|\.\d+/g, "");
}

import { isoTime } from "../domain/iso-time.ts";

const SKEW_MINUTES = 5;
const SKEW = SKEW_MINUTES * 60 * 1000;

/** What the service says of a signature that is too old or too new; undefined when it is neither. */
export function skewMessage(signedAt: number, now: number): string | undefined {
  const [at, current] = [basicTime(signedAt), basicTime(now)];
  if (signedAt < now - SKEW) {
    const earliest = basicTime(now - SKEW);
    return `Signature expired: ${at} is now earlier than ${earliest} (${current} - ${SKEW_MINUTES} min.)`;
  }
  if (signedAt > now + SKEW) {
    const latest = basicTime(now + SKEW);
    return `Signature not yet current: ${at} is still later than ${latest} (${current} + ${SKEW_MINUTES} min.)`;
  }
  return undefined;
}

/** Of `20240229T235959Z` or of an HTTP date. */
export function timeOf(text: string): number | undefined {
  const extended = text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");
  const time = Date.parse(extended);
  return Number.isNaN(time) ? undefined : time;
}

/** `20240229T235959Z`, the form that signatures use. */
export function basicTime(milliseconds: number): string {
  return isoTime(milliseconds).replaceAll(/[-:]|\.\d+/g, "");
}

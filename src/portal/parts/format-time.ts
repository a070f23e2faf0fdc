/** Formats a time relative to now, such as `now`, `12 s ago`, `in 5 min` and `3 d ago`. */
export function formatRelativeTime(at: number, now: number): string {
  const seconds = Math.round(Math.abs(now - at) / 1000);
  if (seconds < 5) return "now";
  const text = formatLargestUnit(seconds);
  return at > now ? `in ${text}` : `${text} ago`;
}

function formatLargestUnit(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < DAY_SECONDS) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / DAY_SECONDS)} d`;
}

const DAY_SECONDS = 86_400;

/** Formats the time of day in the reader's language and time zone; with the date unless both are on the same day. */
export function formatClockTime(at: number, now: number): string {
  const isSameDay = DAY.format(at) === DAY.format(now);
  return isSameDay ? TIME_OF_DAY.format(at) : SHORT_DATE_TIME.format(at);
}

/** Formats date and time in full, with seconds and time zone. */
export function formatFullTime(at: number): string {
  return FULL.format(at);
}

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "short" });
const TIME_OF_DAY = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const SHORT_DATE_TIME = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

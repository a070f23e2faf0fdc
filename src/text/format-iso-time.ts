/** Formats a time as RFC 3339 in UTC, with milliseconds. */
export function formatIsoTime(milliseconds: number): string {
  const day = Math.floor(milliseconds / DAY_MS);
  const dayMs = milliseconds - day * DAY_MS;
  const hours = padTwoDigits(Math.floor(dayMs / 3_600_000));
  const minutes = padTwoDigits(Math.floor(dayMs / 60_000) % 60);
  const seconds = padTwoDigits(Math.floor(dayMs / 1000) % 60);
  const fraction = String(Math.floor(dayMs % 1000)).padStart(3, "0");
  return `${formatDate(day)}T${hours}:${minutes}:${seconds}.${fraction}Z`;
}

/** Formats the day of a time in UTC, such as `2026-11-18`. */
export function formatDay(milliseconds: number): string {
  return formatDate(Math.floor(milliseconds / DAY_MS));
}

const DAY_MS = 86_400_000;

/**
 * Formats a day, counted from 1970-01-01. The calculation uses years starting in March, so a leap day is the last day
 * of its year.
 */
function formatDate(day: number): string {
  const fromMarch = day + 719_468;
  const era = Math.floor(fromMarch / 146_097);
  const dayOfEra = fromMarch - era * 146_097;
  const leaps =
    Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  const dayOfYear = dayOfEra - 365 * yearOfEra - leapDays;
  const month = Math.floor((5 * dayOfYear + 2) / 153);
  const dayOfMonth = dayOfYear - Math.floor((153 * month + 2) / 5) + 1;
  const year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0);
  return `${String(year).padStart(4, "0")}-${padTwoDigits(month < 10 ? month + 3 : month - 9)}-${padTwoDigits(dayOfMonth)}`;
}

function padTwoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

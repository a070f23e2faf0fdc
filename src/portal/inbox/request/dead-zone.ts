/** Milliseconds after a change of the layout in which moved cards ignore decisions, against decisions of wrong cards. */
export const DEAD_ZONE_MS = 1500;

/**
 * Which cards have moved on the page. A finger or pointer may be about to press a card which is now elsewhere, so a
 * moved card ignores decisions for a moment.
 */
export interface DeadZone {
  /** Distance of each card from the top of the list, in pixels. Null before the first layout. */
  readonly tops: ReadonlyMap<string, number> | null;
  /** When each card moved last. */
  readonly movedAt: ReadonlyMap<string, number>;
}

export const NO_DEAD_ZONE: DeadZone = { tops: null, movedAt: new Map() };

/** Pixels. A smaller shift leaves the pointer on the same button. */
const MIN_SHIFT = 6;

/**
 * Records a new layout. Positions are relative to the list, so scrolling is not a move. A new card counts as moved,
 * because the card may have the place of another card. The first layout has no moved cards.
 */
export function recordLayout(
  { tops: before, movedAt: earlier }: DeadZone,
  tops: ReadonlyMap<string, number>,
  now: number,
): DeadZone {
  if (before === null) return { tops, movedAt: new Map() };
  const movedAt = new Map<string, number>();
  for (const [key, top] of tops) {
    const previous = before.get(key);
    const hasMoved = previous === undefined || Math.abs(top - previous) >= MIN_SHIFT;
    const at = hasMoved ? now : earlier.get(key);
    if (at !== undefined && now - at < DEAD_ZONE_MS) movedAt.set(key, at);
  }
  return { tops, movedAt };
}

/** Records a layout whose changes are no moves. */
export function acceptLayout({ movedAt }: DeadZone, tops: ReadonlyMap<string, number>): DeadZone {
  return { tops, movedAt };
}

/** Milliseconds for which a card still ignores decisions. 0: the card accepts decisions. */
export function getDeadTime({ movedAt }: DeadZone, key: string, now: number): number {
  const at = movedAt.get(key);
  return at === undefined ? 0 : Math.max(0, at + DEAD_ZONE_MS - now);
}

/** Milliseconds until no card ignores decisions. 0: none does. */
export function getLongestDeadTime(zone: DeadZone, now: number): number {
  return Math.max(0, ...[...zone.movedAt.keys()].map((key) => getDeadTime(zone, key, now)));
}

import {
  memo,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
  type RefObject,
} from "react";
import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { ItemView } from "./items/item-views.tsx";
import { PINNED_PANELS } from "./panels.tsx";
import { STAGE_TEXTS, OUTCOME_TEXTS } from "./describe-turn.ts";
import { ThreadProvider, type ThreadServices } from "./thread-context.tsx";
import {
  addIndexes,
  countItemsAfter,
  createRowList,
  estimateHeight,
  findOpenRequests,
  findRow,
  findTurnHead,
  type ThreadRow,
} from "./thread-rows.ts";
import { TurnFoot, TurnHead } from "./turn-frame.tsx";
import { ScrollBox } from "../parts/scroll-box.tsx";
import { Icon } from "../parts/icons.tsx";
import { pluralize } from "../../text/pluralize.ts";
import { systemClock } from "../../platform/clock.ts";
import type { SessionView } from "../state/session-view.ts";
import "./thread.css";

export interface ThreadProps extends ThreadServices {
  readonly view: SessionView;
  /** Shown for a session without turns. */
  readonly empty?: ReactNode;
}

/**
 * The conversation of a session. Only visible rows are rendered. The thread follows new text unless the reader has
 * scrolled up. The address `#120` scrolls to the item of event 120.
 */
export function Thread(props: ThreadProps): ReactNode {
  // Another session has other items, and starts at its own end.
  return <SessionThread key={props.view.sessionId} {...props} />;
}

function SessionThread({ view, empty = null, ...services }: ThreadProps): ReactNode {
  const [listRows] = useState(createRowList);
  const rows = listRows(view);
  const scroller = useRef<HTMLDivElement>(null);
  const { isAtEnd, leftAt, virtualizer, stopFollowing, scrollToLatest } = useThreadVirtualizer(
    rows,
    scroller,
  );
  const target = useHashTarget(rows, view.seq, { virtualizer, stopFollowing });
  return (
    <ThreadProvider {...services} onToggleCard={stopFollowing}>
      <div className="thread">
        {PINNED_PANELS.map(
          ({ name, isPresent, View }) => isPresent(view) && <View key={name} view={view} />,
        )}
        <div className="thread-view">
          <ScrollBox ref={scroller} className="thread-scroll" label="Conversation">
            {rows.length === 0 ? (
              empty
            ) : (
              <Rows rows={rows} target={target} virtualizer={virtualizer} />
            )}
          </ScrollBox>
          {!isAtEnd && rows.length > 0 && (
            <JumpButton count={countItemsAfter(rows, leftAt)} onPress={scrollToLatest} />
          )}
        </div>
        <TurnStatus view={view} />
      </div>
    </ThreadProvider>
  );
}

type RowVirtualizer = Virtualizer<HTMLDivElement, HTMLLIElement>;

interface ThreadScroll {
  readonly virtualizer: RowVirtualizer;
  readonly isAtEnd: boolean;
  /** The last row when the reader left the end. */
  readonly leftAt: number;
  /** A card that the reader opens stays in place, also at the end of the thread. */
  readonly stopFollowing: () => void;
  readonly scrollToLatest: () => void;
}

function useThreadVirtualizer(
  rows: readonly ThreadRow[],
  scroller: RefObject<HTMLDivElement | null>,
): ThreadScroll {
  const [leftAt, setLeftAt] = useState<number | null>(null);
  const [isFollowing, setFollowing] = useState(true);
  const hasReaderScrolled = useReaderGesture(scroller);
  const openRequests = useMemo(() => findOpenRequests(rows), [rows]);
  // oxlint-disable-next-line react/incompatible-library -- the functions of the result are passed to no memoized component
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLLIElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimateHeight(rows[index]),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 3,
    // The heading of the first visible turn is rendered too: headings of its messages are below this heading.
    rangeExtractor: (range) => {
      const head = findTurnHead(rows, range.startIndex);
      const others = openRequests.filter((index) => index !== head);
      const added = [...others, head].sort((left, right) => left - right);
      return addIndexes(defaultRangeExtractor(range), added);
    },
    // New rows are rendered in slices between frames, not at once inside the scroll event.
    useFlushSync: false,
    paddingStart: 16,
    paddingEnd: 24,
    anchorTo: isFollowing ? "end" : "start",
    followOnAppend: isFollowing,
    scrollEndThreshold: END_THRESHOLD,
    onChange(instance) {
      const isAtEnd = instance.isAtEnd(END_THRESHOLD);
      const last = instance.options.count - 1;
      // The thread scrolls by itself too, for example until the sizes above a link target are known.
      const follows = isFollowing || (instance.isScrolling && hasReaderScrolled.current);
      if (isAtEnd && follows) setFollowing(true);
      setLeftAt((left) => (isAtEnd && follows ? null : (left ?? last)));
    },
  });
  useLayoutEffect(() => virtualizer.scrollToEnd(), [virtualizer]);
  useResize(scroller, () => {
    if (leftAt === null && isFollowing) virtualizer.scrollToEnd();
  });
  const stopFollowing = useCallback(() => {
    hasReaderScrolled.current = false;
    setFollowing(false);
    setLeftAt((left) => left ?? virtualizer.options.count - 1);
  }, [virtualizer, hasReaderScrolled]);
  const scrollToLatest = useCallback(() => {
    setFollowing(true);
    setLeftAt(null);
    virtualizer.scrollToEnd();
  }, [virtualizer]);
  return {
    virtualizer,
    isAtEnd: leftAt === null || (!isFollowing && measureDistance(virtualizer) <= END_THRESHOLD),
    leftAt: leftAt ?? rows.length - 1,
    stopFollowing,
    scrollToLatest,
  };
}

/** Calls `onResize` after each change of the size: the keyboard of a phone and a growing composer shrink the thread. */
function useResize(scroller: RefObject<HTMLDivElement | null>, onResize: () => void): void {
  const latest = useRef(onResize);
  useEffect(() => {
    latest.current = onResize;
  });
  useEffect(() => {
    const observer = new ResizeObserver(() => latest.current());
    if (scroller.current !== null) observer.observe(scroller.current);
    return () => observer.disconnect();
  }, [scroller]);
}

/** Becomes true when the reader uses the wheel, a finger, the scroll bar or the keyboard. The caller resets the value. */
function useReaderGesture(scroller: RefObject<HTMLDivElement | null>): RefObject<boolean> {
  const hasScrolled = useRef(false);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const note = (): void => {
      hasScrolled.current = true;
    };
    for (const name of GESTURES) element.addEventListener(name, note, { passive: true });
    return () => {
      for (const name of GESTURES) element.removeEventListener(name, note);
    };
  }, [scroller]);
  return hasScrolled;
}

const GESTURES = ["wheel", "touchmove", "pointerdown", "keydown"];

/** Pixels below the visible part, from known sizes: reading them from the page would force a layout. */
function measureDistance(virtualizer: RowVirtualizer): number {
  const { scrollOffset, scrollRect } = virtualizer;
  return virtualizer.getTotalSize() - (scrollOffset ?? 0) - (scrollRect?.height ?? 0);
}

/** Pixels. A reader who is this near to the end follows the text. */
const END_THRESHOLD = 48;

function Rows({
  rows,
  target,
  virtualizer,
}: {
  readonly rows: readonly ThreadRow[];
  readonly target: string | null;
  readonly virtualizer: RowVirtualizer;
}): ReactNode {
  return (
    <ol className="thread-rows" style={{ height: virtualizer.getTotalSize() }}>
      {virtualizer.getVirtualItems().map(({ index, key, start }) => {
        const row = rows[index];
        if (row === undefined) return null;
        return (
          <li
            key={key}
            ref={virtualizer.measureElement}
            className="thread-row"
            // Each row has a separate position: rows that stay visible are not painted again.
            style={{ transform: `translateY(${start}px)` }}
            aria-setsize={rows.length}
            aria-posinset={index + 1}
            data-index={index}
            data-kind={row.kind === "item" ? row.item.kind : row.kind}
            data-target={row.key === target}
          >
            <RowView row={row} />
          </li>
        );
      })}
    </ol>
  );
}

const RowView = memo(function RowView({ row }: { readonly row: ThreadRow }): ReactNode {
  switch (row.kind) {
    case "head":
      return <TurnHead turn={row.turn} number={row.number} />;
    case "item":
      return <ItemView item={row.item} />;
    case "foot":
      return <TurnFoot turn={row.turn} />;
  }
});

function JumpButton({
  count,
  onPress,
}: {
  readonly count: number;
  readonly onPress: () => void;
}): ReactNode {
  return (
    <button type="button" className="thread-jump" onClick={onPress}>
      <Icon name="down" />
      {count === 0 ? "Jump to latest" : pluralize(count, "new item")}
    </button>
  );
}

/** Announces the stage of the last turn to screen readers. */
function TurnStatus({ view }: { readonly view: SessionView }): ReactNode {
  const turn = view.turns.at(-1);
  const text =
    turn === undefined
      ? ""
      : turn.end === null
        ? STAGE_TEXTS[turn.stage]
        : `Turn ${OUTCOME_TEXTS[turn.end.outcome].toLowerCase()}`;
  return (
    <output className="part-hidden" aria-live="polite">
      {text}
    </output>
  );
}

/**
 * Scrolls to the item named by the address, as soon as its event is loaded. Returns the row's key while the row is
 * marked.
 */
function useHashTarget(
  rows: readonly ThreadRow[],
  lastSeq: number,
  { virtualizer, stopFollowing }: Pick<ThreadScroll, "virtualizer" | "stopFollowing">,
): string | null {
  const [targetHash, setTargetHash] = useState(readHash);
  const [finished, setFinished] = useState<HashTarget | null>(null);
  useEffect(() => {
    const readAddress = (): void => setTargetHash(readHash());
    window.addEventListener("hashchange", readAddress);
    return () => window.removeEventListener("hashchange", readAddress);
  }, []);
  const isActive = targetHash !== null && targetHash !== finished && targetHash.seq <= lastSeq;
  const index = isActive ? findRow(rows, targetHash.seq) : -1;
  useEffect(() => {
    if (index === -1) return undefined;
    stopFollowing();
    virtualizer.scrollToIndex(index, { align: "start" });
    return systemClock.schedule(MARK_MS, () => setFinished(targetHash));
  }, [index, targetHash, virtualizer, stopFollowing]);
  return rows[index]?.key ?? null;
}

const MARK_MS = 2500;

/** A new object for each navigation, also to the same item. */
interface HashTarget {
  readonly seq: number;
}

function readHash(): HashTarget | null {
  const [, seq] = /^#(\d{1,15})$/.exec(window.location.hash) ?? [];
  return seq === undefined ? null : { seq: Number(seq) };
}

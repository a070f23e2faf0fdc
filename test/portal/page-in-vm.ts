import { createContext, runInContext } from "node:vm";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import type { ServedPortal } from "./start-portal.ts";

export interface PageInVm {
  /** Headers of later requests of the page, for example a browser's cookie. */
  headers: { readonly [name: string]: string };
  element(id: string): FakeElement;
  elements(tag: string): FakeElement[];
  /** Dispatches an event to the window and the document. */
  fire(type: string): void;
  /** Signals that the event stream opened, for the first time or after a reconnect. */
  opened(): void;
  show(event: SessionEvent): void;
}

/** Runs the script of a page against a real portal, with the minimal browser API which the script uses. */
export async function pageInVm(portal: ServedPortal, path: string): Promise<PageInVm> {
  const { text } = await portal.get(path);
  const script = /<script>([\s\S]*)<\/script>/.exec(text)?.[1] ?? "";
  const byId = new Map<string, FakeElement>();
  const made: FakeElement[] = [];
  const listeners: { readonly type: string; readonly run: () => void }[] = [];
  const listen = (type: string, run: () => void): void => void listeners.push({ type, run });
  let source: FakeSource | undefined;
  let seq = 0;
  function EventSource(): FakeSource {
    source = { addEventListener() {} };
    return source;
  }
  EventSource.CLOSED = 2;
  const element = (id: string): FakeElement => {
    const found = byId.get(id) ?? new FakeElement(id);
    byId.set(id, found);
    return found;
  };
  const page: PageInVm = {
    headers: {},
    element,
    elements: (tag) => made.filter((one) => one.tag === tag),
    fire: (type) => listeners.forEach((one) => one.type === type && one.run()),
    opened: () => source?.onopen?.(),
    show: (event) => {
      seq += 1;
      source?.onmessage?.({ data: JSON.stringify({ seq, at: 0, event }) });
    },
  };
  const browser = {
    document: {
      getElementById: element,
      createElement(tag: string) {
        const one = new FakeElement(tag);
        made.push(one);
        return one;
      },
      createTextNode: () => new FakeElement("#text"),
      addEventListener: listen,
      documentElement: { scrollHeight: 0 },
      hidden: false,
    },
    window: { addEventListener: listen, setTimeout, scrollTo() {} },
    location: { pathname: path },
    requestAnimationFrame: (run: () => void) => run(),
    fetch: (address: string, options: RequestInit = {}) =>
      fetch(new URL(address, portal.url), { ...options, headers: page.headers }),
    EventSource,
    Intl,
    crypto,
  };
  runInContext(script, createContext(browser));
  return page;
}

interface FakeSource {
  onopen?: () => void;
  onmessage?: (message: { readonly data: string }) => void;
  addEventListener(): void;
}

export class FakeElement {
  readonly tag: string;
  textContent = "";
  className = "";
  hidden = false;
  disabled = false;
  open = false;
  readonly classList = { add() {} };
  constructor(tag: string) {
    this.tag = tag;
  }
  get firstChild(): FakeElement {
    return new FakeElement("#text");
  }
  get lastChild(): FakeElement {
    return new FakeElement("div");
  }
  setAttribute(): void {}
  addEventListener(): void {}
  append(...given: readonly unknown[]): void {
    for (const one of given) if (typeof one === "string") this.textContent += one;
  }
  replaceChildren(): void {}
  appendData(): void {}
  querySelectorAll(): FakeElement[] {
    return [];
  }
}

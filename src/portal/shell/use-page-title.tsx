import { useEffect } from "react";
import { formatTabTitle } from "../inbox/inbox-alerts.ts";
import { useServices, useStore } from "./services.tsx";

/** Sets the title of the tab: the number of open requests, then the page. */
export function usePageTitle(title: string | null): void {
  const requests = useStore(useServices().live.inbox).items.length;
  useEffect(() => {
    document.title = formatTabTitle(title, requests);
  }, [title, requests]);
}

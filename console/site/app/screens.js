// The console's screens: each a module below `screens/` that exports its component.
import { may } from "./session.js";

const always = () => true;

// In the order of the navigation; a screen without a title isn't in it. `isOffered` decides by the
// caller's permissions.
export const SCREENS = [
  { name: "sign-in", isOffered: always, load: () => import("../screens/sign-in.js") },
  { name: "home", title: "Home", isOffered: always, load: () => import("../screens/home.js") },
  { name: "crawl", title: "Crawl", isOffered: () => may("view_crawls"), load: () => import("../screens/crawl.js") },
  { name: "search", title: "Search", isOffered: () => may("search"), load: () => import("../screens/search.js") },
  { name: "documents", title: "Documents", isOffered: () => may("view_documents"), load: () => import("../screens/documents.js") },
  { name: "watch", title: "Watch", isOffered: () => may("view_targets"), load: () => import("../screens/watch.js") },
  { name: "audits", title: "Audits", isOffered: () => may("view_audits"), load: () => import("../screens/audits.js") },
  { name: "publish", title: "Publish", isOffered: () => may("view_products"), load: () => import("../screens/publish.js") },
  { name: "jobs", title: "Jobs", isOffered: () => may("view_jobs"), load: () => import("../screens/jobs.js") },
  { name: "settings", title: "Settings", isOffered: always, load: () => import("../screens/settings.js") },
];

/** The screens and their addresses. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { parseVersions } from '../artifacts/versions.ts';
import { InboxScreen } from '../inbox/inbox-screen.tsx';
import { Problem } from '../parts/problem.tsx';
import { parseRunSearch } from '../run/run-search.ts';
import { parseSearch } from '../runs/filter.ts';
import { RunsScreen } from '../runs/runs-screen.tsx';
import { Shell } from '../shell/shell.tsx';
import { SignInScreen } from '../sign-in/sign-in-screen.tsx';
import { knownSearch } from './known-search.ts';

const root = createRootRoute({ notFoundComponent: NotFound });

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/runs' });
  },
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: knownSearch<{ readonly back?: string }>(['back'], ({ back }) =>
    typeof back === 'string' ? { back } : {},
  ),
  component: SignInScreen,
});

const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });

const runs = createRoute({
  getParentRoute: () => shell,
  path: '/runs',
  validateSearch: knownSearch(['status', 'workflow', 'tag', 'parent'], parseSearch),
  component: RunsScreen,
});

const run = createRoute({
  getParentRoute: () => shell,
  path: '/runs/$runId',
  validateSearch: knownSearch(['tab', 'event', 'at'], parseRunSearch),
  component: lazyRouteComponent(() => import('../run/run-page.tsx'), 'RunPage'),
});

const compare = createRoute({
  getParentRoute: () => shell,
  path: '/compare/$a/$b',
  component: lazyRouteComponent(() => import('../compare/compare-page.tsx'), 'ComparePage'),
});

const inbox = createRoute({
  getParentRoute: () => shell,
  path: '/inbox',
  validateSearch: knownSearch<{ readonly question?: string; readonly run?: string }>(
    ['question', 'run'],
    ({ question, run }) => ({
      ...(typeof question === 'string' && { question }),
      ...(typeof run === 'string' && { run }),
    }),
  ),
  component: InboxScreen,
});

const chat = createRoute({
  getParentRoute: () => shell,
  path: '/chat',
  validateSearch: knownSearch<{ readonly agent?: string }>(['agent'], ({ agent }) =>
    typeof agent === 'string' ? { agent } : {},
  ),
  component: lazyRouteComponent(() => import('../chat/chat-page.tsx'), 'NewChatPage'),
});

const conversation = createRoute({
  getParentRoute: () => shell,
  path: '/chat/$contextId',
  component: lazyRouteComponent(() => import('../chat/chat-page.tsx'), 'ChatPage'),
});

const agents = createRoute({
  getParentRoute: () => shell,
  path: '/agents',
  component: lazyRouteComponent(() => import('../agents/agents-page.tsx'), 'AgentsPage'),
});

const agent = createRoute({
  getParentRoute: () => shell,
  path: '/agents/$agentId',
  component: lazyRouteComponent(() => import('../agents/agents-page.tsx'), 'AgentPage'),
});

const artifacts = createRoute({
  getParentRoute: () => shell,
  path: '/artifacts',
  component: lazyRouteComponent(() => import('../artifacts/artifacts-page.tsx'), 'ArtifactsPage'),
});

const artifact = createRoute({
  getParentRoute: () => shell,
  path: '/artifacts/$contextId/$artifactId',
  validateSearch: knownSearch(['version', 'against'], parseVersions),
  component: lazyRouteComponent(() => import('../artifacts/artifacts-page.tsx'), 'ArtifactPage'),
});

const hosts = createRoute({
  getParentRoute: () => shell,
  path: '/hosts',
  component: lazyRouteComponent(() => import('../hosts/hosts-page.tsx'), 'HostsPage'),
});

const system = createRoute({
  getParentRoute: () => shell,
  path: '/system',
  component: lazyRouteComponent(() => import('../system/system-page.tsx'), 'SystemPage'),
});

function NotFound() {
  return (
    <main className="state">
      <h2>There is no screen at this address</h2>
      <p>
        <a href="/runs">Go to the runs</a>
      </p>
    </main>
  );
}

/** The last net: a screen that cannot be drawn says why, and the top bar stays. */
const Failed = ({ error, reset }: ErrorComponentProps) =>
  isNotLoaded(error) ? (
    <div className="state">
      <h2>This screen is not loaded</h2>
      <p>The host does not answer, or has had another version since this page was opened.</p>
      <button type="button" className="button" onClick={() => location.reload()}>
        Load the page again
      </button>
    </div>
  ) : (
    <div className="state">
      <h2>This screen cannot be shown</h2>
      <Problem error={error} onRetry={reset} />
    </div>
  );

/** As the browsers and the bundler say that a file of a screen did not come. */
const isNotLoaded = (error: unknown): boolean =>
  error instanceof Error && /dynamically imported module|preload CSS|importing a module script/i.test(error.message);

const screens = [runs, run, compare, inbox, chat, conversation, agents, agent, artifacts, artifact, hosts, system];

export const router = createRouter({
  routeTree: root.addChildren([start, signIn, shell.addChildren(screens)]),
  defaultErrorComponent: Failed,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: false,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

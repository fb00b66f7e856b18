/** The order of the documentation: every page has one place. */

export interface Group {
  readonly title: string;
  /** Paths of pages below `docs/`, without their ending. */
  readonly pages: readonly string[];
}

export const groups: readonly Group[] = [
  { title: 'Start', pages: ['README', 'start/tour', 'start/install', 'first-five-minutes'] },
  {
    title: 'Concepts',
    pages: [
      'concepts/README',
      'concepts/log',
      'concepts/runs',
      'concepts/agents',
      'concepts/questions',
      'concepts/replay',
      'concepts/causes',
      'concepts/effects',
      'concepts/tenants',
    ],
  },
  {
    title: 'Guides',
    pages: [
      'guides/first-workflow',
      'guides/first-agent',
      'guides/tool',
      'guides/human-in-the-loop',
      'guides/sign-in',
      'guides/artifacts',
      'guides/go-back',
      'guides/cross-host',
      'guides/embed',
      'guides/chat-front-end',
    ],
  },
  {
    title: 'Operate',
    pages: [
      'operate/run',
      'reference/configuration',
      'operate/scale',
      'operate/backup-and-restore',
      'reference/retention',
      'reference/observability',
      'reference/security',
      'operate/upgrade',
    ],
  },
  { title: 'Runs', pages: names('runs workflows nodes expressions orchestration forks diff verify bundles') },
  {
    title: 'People and agents',
    pages: names(
      'agents identity packs models prompts tools memory calibration interrupts inbox conversations sign-ins artifacts',
    ),
  },
  {
    title: 'Surfaces',
    pages: names('studio cli api client client-contexts streams task-events ai-sdk ag-ui mcp a2a peers webhooks'),
  },
  { title: 'Errors', pages: ['errors/README'] },
  {
    title: 'Background',
    pages: ['architecture', 'decisions/README', 'simulation', 'crash-testing', 'planted-bugs', 'benchmarks'],
  },
];

function names(list: string): readonly string[] {
  return list.split(' ').map((name) => `reference/${name}`);
}

/** Pages that another page lists: too many for the navigation. */
export const listed: readonly RegExp[] = [/^errors\/(?!README$)/, /^decisions\/\d{4}-/];

/** Figures of Studio in a real browser: a long run opens at once, scrolls smoothly, and follows a busy run. */
import { createClient } from '@cairn/client';
import type { Page } from 'playwright-core';
import { launchBrowser, newContext } from '../e2e/browser/chromium.ts';
import { buildStudio } from '../packages/studio/build/build-studio.ts';
import { type Arena, openArena } from './arena.ts';
import type { Figure, Sample } from './figure.ts';
import type { Group, Plan } from './plan.ts';

const SHORT = 1_000;
/** Events a second of a busy run. */
const BUSY = 500;
/** Pixels a frame: a strong flick. */
const FLICK = 240;

export const studioGroup: Group = {
  name: 'studio',
  about: 'the run screen in Chromium: opening, scrolling and following',
  figures: ['studio-open', 'studio-open-whole', 'studio-scroll', 'studio-live'],
  run: studioFigures,
};

async function studioFigures(plan: Plan): Promise<readonly Figure[]> {
  await buildStudio();
  await using arena = await openArena(plan);
  const browser = await launchBrowser();
  try {
    const url = `http://127.0.0.1:${arena.hostTarget.port}`;
    const page = await (await newContext(browser)).newPage();
    await page.goto((await createClient({ url, key: arena.hostTarget.key }).session.createLink()).url);
    await page.waitForURL('**/runs');
    const long = await arena.host.ask('timeRun', { workflowId: `bench-loop-${plan.quick ? 10_000 : 100_000}` });
    const short = await arena.host.ask('timeRun', { workflowId: `bench-loop-${SHORT}` });
    const screen: Screen = { plan, arena, page, url };
    const opened = await openFigures(screen, long.runId, short.runId);
    return [...opened, await scrollFigure(screen, long.runId), await liveFigure(screen)];
  } finally {
    await browser.close();
  }
}

interface Screen {
  readonly plan: Plan;
  readonly arena: Arena;
  readonly page: Page;
  readonly url: string;
}

/** Times from the navigation until the first rows are drawn, and until all rows are there. */
async function openFigures(screen: Screen, long: string, short: string): Promise<readonly Figure[]> {
  const first: Sample[] = [];
  const whole: Sample[] = [];
  for (let round = 0; round < screen.plan.rounds + 1; round++) {
    const brief = await openTimes(screen, short);
    const times = await openTimes(screen, long);
    // The first round fills the browser's cache.
    if (round === 0) continue;
    first.push({ value: times.firstMs, limit: brief.firstMs });
    whole.push({ value: times.wholeMs, limit: brief.wholeMs });
    screen.plan.progress(`  open: ${Math.round(times.firstMs)} ms, all events after ${Math.round(times.wholeMs)} ms`);
  }
  const limitName = `a run of ${SHORT} events`;
  return [
    { name: 'studio-open', unit: 'ms', limitName, bar: { of: 'value', is: '<=', amount: 1_000 }, samples: first },
    {
      name: 'studio-open-whole',
      unit: 'ms',
      limitName,
      bar: { of: 'value', is: '<=', amount: 10_000 },
      samples: whole,
    },
  ];
}

async function openTimes({ page, url }: Screen, runId: string) {
  await page.goto(`${url}/runs/${runId}?tab=log`, { waitUntil: 'commit' });
  await page.locator('.log-row').first().waitFor();
  const firstMs = await page.evaluate(() => performance.now());
  // The slider works once all events are there.
  await page.locator('.scrubber input:enabled').waitFor({ timeout: 60_000 });
  const wholeMs = await page.evaluate(() => performance.now());
  return { firstMs, wholeMs };
}

async function scrollFigure(screen: Screen, runId: string): Promise<Figure> {
  const { page, plan } = screen;
  await openTimes(screen, runId);
  const samples: Sample[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const limit = perSecond(await frames(page, 1_000, 0));
    const value = perSecond(await frames(page, plan.quick ? 1_000 : 3_000, FLICK));
    samples.push({ value, limit });
    plan.progress(`  scroll: ${value.toFixed(1)} of ${limit.toFixed(1)} frames/s`);
  }
  return {
    name: 'studio-scroll',
    unit: 'frames/s',
    limitName: 'the same page at rest',
    bar: { of: 'ratio', is: '>=', amount: 0.95 },
    samples,
  };
}

const perSecond = (spans: readonly number[]): number => (spans.length / spans.reduce((sum, ms) => sum + ms, 0)) * 1_000;

/** The times between frames while the list scrolls by so many pixels a frame. */
const frames = (page: Page, ms: number, pixels: number): Promise<readonly number[]> =>
  page.evaluate(
    ([length, step]) =>
      new Promise<number[]>((resolve) => {
        const list = document.querySelector('.run-scroll');
        const spans: number[] = [];
        if (list !== null && step > 0) list.scrollTop = 0;
        let last = performance.now();
        const end = last + length;
        const draw = (now: number): void => {
          spans.push(now - last);
          last = now;
          if (list !== null && step > 0) list.scrollTop += step;
          if (now < end) requestAnimationFrame(draw);
          else resolve(spans.slice(1));
        };
        requestAnimationFrame(draw);
      }),
    [ms, pixels] as const,
  );

/** The longest frame while a run writes 500 events a second. */
async function liveFigure({ plan, arena, page, url }: Screen): Promise<Figure> {
  const samples: Sample[] = [];
  const seconds = plan.quick ? 2 : 5;
  for (let round = 0; round < plan.rounds; round++) {
    const { runId, lastSeq } = await arena.host.ask('waitingRun');
    await page.goto(`${url}/runs/${runId}?tab=log`);
    await page.locator('.log-row').first().waitFor();
    const limit = Math.max(...(await frames(page, 1_000, 0)));
    const count = BUSY * seconds;
    const writing = arena.host.ask('emit', { runId, count, everyMs: 1_000 / BUSY });
    const value = Math.max(...(await frames(page, seconds * 1_000, 0)));
    await writing;
    await page.getByText(`${lastSeq + count} of ${lastSeq + count}`).waitFor();
    samples.push({ value, limit });
    plan.progress(`  live: the longest frame took ${value.toFixed(1)} ms, ${limit.toFixed(1)} at rest`);
  }
  return {
    name: 'studio-live',
    unit: 'ms, longest frame',
    limitName: 'the same page at rest',
    bar: { of: 'value', is: '<=', amount: 50 },
    samples,
  };
}

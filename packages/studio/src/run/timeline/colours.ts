/** The colours of the theme as a canvas needs them. */
import { useEffect, useState } from 'react';

const tokens = {
  ink: '--ink',
  ink2: '--ink-2',
  ink3: '--ink-3',
  line: '--line',
  panel: '--panel',
  accent: '--accent',
  working: '--working',
  workingSoft: '--working-soft',
  waiting: '--waiting',
  waitingSoft: '--waiting-soft',
  done: '--done',
  doneSoft: '--done-soft',
  failed: '--failed',
  failedSoft: '--failed-soft',
  none: '--ink-2',
  noneSoft: '--raised',
} as const;

export type Colours = Readonly<Record<keyof typeof tokens, string>> & {
  readonly font: string;
  readonly hatch: CanvasPattern | string;
};

/** The colours, again whenever the theme changes. */
export function useColours(): Colours | null {
  const [colours, setColours] = useState<Colours | null>(null);
  useEffect(() => {
    const read = () => setColours(readColours());
    read();
    const media = matchMedia('(prefers-color-scheme: dark)');
    media.addEventListener('change', read);
    const theme = new MutationObserver(read);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'class', 'style'] });
    return () => {
      media.removeEventListener('change', read);
      theme.disconnect();
    };
  }, []);
  return colours;
}

/** A variable may hold `light-dark(…)`; only the colour of an element tells what that is now. */
function readColours(): Colours {
  const probe = document.createElement('span');
  document.body.append(probe);
  const colour = (token: string): string => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const entries = Object.entries(tokens).map(([name, token]) => [name, colour(token)]);
  const found: Readonly<Record<keyof typeof tokens, string>> = Object.fromEntries(entries);
  probe.remove();
  return {
    ...found,
    font: getComputedStyle(document.body).fontFamily,
    hatch: hatched(found.waiting, found.waitingSoft),
  };
}

/** Diagonal lines, the sign of waiting. */
function hatched(ink: string, ground: string): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = 8;
  tile.height = 8;
  const context = tile.getContext('2d');
  if (context === null) return ground;
  context.fillStyle = ground;
  context.fillRect(0, 0, 8, 8);
  context.strokeStyle = ink;
  context.globalAlpha = 0.3;
  context.lineWidth = 1.2;
  context.beginPath();
  for (const x of [-8, 0, 8]) {
    context.moveTo(x, 8);
    context.lineTo(x + 8, 0);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat') ?? ground;
}

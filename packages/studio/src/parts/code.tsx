/** Text as it is, in a frame that scrolls, by the keyboard too. */
import { createElement, type ReactNode } from 'react';

interface CodeProps {
  readonly className?: string;
  /** Parts that never change places, and so need no keys. */
  readonly parts: readonly ReactNode[];
}

export const Code = ({ className, parts }: CodeProps) =>
  createElement('pre', { className: className === undefined ? 'code' : `code ${className}`, tabIndex: 0 }, ...parts);

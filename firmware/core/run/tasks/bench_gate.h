/* The start barrier; see gate.c. */
#pragma once

void gate_arrive(unsigned slot);     /* by a task: blocks until the control task opens the gate */
void gate_finish(unsigned slot);     /* by a task: done for good */
void gate_collect(const char *what); /* by the control task: until every slot is at the gate */
void gate_open(void);                /* by the control task: returns at the tick on which all others go on */

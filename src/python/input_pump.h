/* InputPump: a thread that opens the rows of one parameter and writes them, as an Arrow IPC stream, into a socket that
 * the worker reads. Nothing to give (`open` gave no stream): the socket is closed without a byte. */
#ifndef INTERLACE_PYTHON_INPUT_PUMP_H
#define INTERLACE_PYTHON_INPUT_PUMP_H

#include "python/python_runtime.h"

typedef struct InputPump InputPump;
DEFINE_VEC(InputPumpVec, input_pump_vec, InputPump *)

/* Keeps `inputs`, `parameter` and the texts of `part`. `*reader_out` is the end to be read from; the caller closes it.
 */
MUST_CHECK Status input_pump_start(const PythonInputs *inputs, const PythonParameter *parameter, PythonPart part,
                                   InputPump **pump_out, int *reader_out, Error *err);

const PythonParameter *input_pump_parameter(const InputPump *pump);

/* True once it has failed for another reason than that nobody reads any more. Any thread. */
bool input_pump_has_failed(InputPump *pump);

/* Stops it, waits for its thread and frees it. Fails with its reason when it has failed. */
MUST_CHECK Status input_pump_finish(InputPump *pump, Error *err);

#endif

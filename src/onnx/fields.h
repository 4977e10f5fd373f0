// SPDX-License-Identifier: Apache-2.0
// onnx/fields.h — field numbers of onnx.proto, for reading and writing.
#pragma once

#include <cstdint>

namespace lemma::onnx {

namespace model_field {
enum : uint32_t {
    IrVersion = 1,
    Producer = 2,
    ProducerVersion = 3,
    Version = 5,
    Doc = 6,
    Graph = 7,
    Opset = 8,
    Metadata = 14,
    TrainingInfo = 20,
    Function = 25
};
}
namespace property_field {
enum : uint32_t { Key = 1, Value = 2 };
}
namespace opset_field {
enum : uint32_t { Domain = 1, Version = 2 };
}
namespace graph_field {
enum : uint32_t {
    Node = 1,
    Name = 2,
    Initializer = 5,
    Input = 11,
    Output = 12,
    Value = 13,
    SparseInitializer = 15
};
}
namespace node_field {
enum : uint32_t {
    Input = 1,
    Output = 2,
    Name = 3,
    Op = 4,
    Attribute = 5,
    Domain = 7,
    Overload = 8
};
}
namespace attribute_field {
enum : uint32_t {
    Name = 1,
    Float = 2,
    Int = 3,
    String = 4,
    Tensor = 5,
    Graph = 6,
    Floats = 7,
    Ints = 8,
    Strings = 9,
    Tensors = 10,
    Graphs = 11,
    Type = 20,
    Reference = 21
};
}
namespace value_field {
enum : uint32_t { Name = 1, Type = 2, Doc = 3 };
}
namespace type_field {
enum : uint32_t { Tensor = 1, Sequence = 4, Map = 5, SparseTensor = 8, Optional = 9 };
}
namespace tensor_type_field {
enum : uint32_t { Elem = 1, Shape = 2 };
}
namespace dimension_field {
enum : uint32_t { Value = 1, Param = 2, Denotation = 3 };
}
namespace tensor_field {
enum : uint32_t { Dims = 1, Type = 2, Name = 8, Raw = 9, External = 13, Location = 14 };
}
namespace function_field {
enum : uint32_t {
    Name = 1,
    Input = 4,
    Output = 5,
    Attribute = 6,
    Node = 7,
    Opset = 9,
    Domain = 10,
    Default = 11,
    Overload = 13
};
}

}  // namespace lemma::onnx

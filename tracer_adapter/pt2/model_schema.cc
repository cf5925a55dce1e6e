#include "tracer_adapter/pt2/model_schema.h"

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace proviso::inline v0_2::pt2 {
namespace {

// "name:type ..." by blanks; the type `any` is any.  [T] is a list, {T} an
// object of any keys; T? may be null, and a member whose type ends with '=' may
// be missing.  A union has exactly one of its members.
struct TypeRow {
  const char* name;
  bool is_union;
  const char* members;
};
constexpr TypeRow kTypes[] = {
    {"Device", false, "type:str index:int?="},
    {"SymExprHint", true, "as_int:int as_bool:bool as_float:float"},
    {"SymExpr", false, "expr_str:str hint:SymExprHint?="},
    {"SymInt", true, "as_expr:SymExpr as_int:int"},
    {"SymFloat", true, "as_expr:SymExpr as_float:float"},
    {"SymBool", true, "as_expr:SymExpr as_bool:bool"},
    {"TensorMeta", false,
     "dtype:int sizes:[SymInt] requires_grad:bool device:Device "
     "strides:[SymInt] storage_offset:SymInt layout:int"},
    {"SymIntArgument", true, "as_name:str as_int:int"},
    {"SymFloatArgument", true, "as_name:str as_float:float"},
    {"SymBoolArgument", true, "as_name:str as_bool:bool"},
    {"TensorArgument", false, "name:str"},
    {"TokenArgument", false, "name:str"},
    {"OptionalTensorArgument", true, "as_tensor:TensorArgument as_none:bool"},
    {"GraphArgument", false, "name:str graph:Graph"},
    {"CustomObjArgument", false, "name:str class_fqn:str"},
    {"ComplexValue", false, "real:float imag:float"},
    {"Argument", true,
     "as_none:bool as_tensor:TensorArgument as_tensors:[TensorArgument] "
     "as_int:int as_ints:[int] as_float:float as_floats:[float] as_string:str "
     "as_strings:[str] as_sym_int:SymIntArgument "
     "as_sym_ints:[SymIntArgument] as_scalar_type:int as_memory_format:int "
     "as_layout:int as_device:Device as_bool:bool as_bools:[bool] "
     "as_sym_bool:SymBoolArgument as_sym_bools:[SymBoolArgument] "
     "as_graph:GraphArgument as_optional_tensors:[OptionalTensorArgument] "
     "as_custom_obj:CustomObjArgument as_operator:str "
     "as_sym_float:SymFloatArgument as_sym_floats:[SymFloatArgument] "
     "as_optional_tensor:OptionalTensorArgument as_complex:ComplexValue "
     "as_nested_tensors:[[TensorArgument]] as_int_lists:[[int]] "
     "as_string_to_argument:{Argument} as_float_lists:[[float]]"},
    {"NamedArgument", false, "name:str arg:Argument kind:int?="},
    {"Node", false,
     "target:str inputs:[NamedArgument] outputs:[Argument] metadata:{str} "
     "is_hop_single_tensor_return:bool?= name:str?="},
    {"Graph", false,
     "inputs:[Argument] outputs:[Argument] nodes:[Node] "
     "tensor_values:{TensorMeta} sym_int_values:{SymInt} "
     "sym_bool_values:{SymBool} is_single_tensor_return:bool= "
     "custom_obj_values:{CustomObjArgument}= sym_float_values:{SymFloat}="},
    {"UserInputSpec", false, "arg:Argument"},
    {"ConstantValue", true,
     "as_none:bool as_int:int as_float:float as_string:str as_bool:bool"},
    {"InputToConstantInputSpec", false, "name:str value:ConstantValue"},
    {"InputToParameterSpec", false, "arg:TensorArgument parameter_name:str"},
    {"InputToBufferSpec", false,
     "arg:TensorArgument buffer_name:str persistent:bool"},
    {"InputToTensorConstantSpec", false,
     "arg:TensorArgument tensor_constant_name:str"},
    {"InputToCustomObjSpec", false,
     "arg:CustomObjArgument custom_obj_name:str"},
    {"InputTokenSpec", false, "arg:TokenArgument"},
    {"InputSpec", true,
     "user_input:UserInputSpec parameter:InputToParameterSpec "
     "buffer:InputToBufferSpec tensor_constant:InputToTensorConstantSpec "
     "custom_obj:InputToCustomObjSpec token:InputTokenSpec "
     "constant_input:InputToConstantInputSpec"},
    {"UserOutputSpec", false, "arg:Argument"},
    {"LossOutputSpec", false, "arg:TensorArgument"},
    {"BufferMutationSpec", false, "arg:TensorArgument buffer_name:str"},
    {"ParameterMutationSpec", false, "arg:TensorArgument parameter_name:str"},
    {"UserInputMutationSpec", false, "arg:TensorArgument user_input_name:str"},
    {"OutputTokenSpec", false, "arg:TokenArgument"},
    {"OutputSpec", true,
     "user_output:UserOutputSpec loss_output:LossOutputSpec "
     "buffer_mutation:BufferMutationSpec "
     "gradient_to_parameter:ParameterMutationSpec "
     "gradient_to_user_input:UserInputMutationSpec "
     "user_input_mutation:UserInputMutationSpec token:OutputTokenSpec "
     "parameter_mutation:ParameterMutationSpec"},
    {"GraphSignature", false,
     "input_specs:[InputSpec] output_specs:[OutputSpec]"},
    {"RangeConstraint", false, "min_val:int? max_val:int?"},
    {"ModuleCallSignature", false,
     "inputs:[Argument] outputs:[Argument] in_spec:str out_spec:str "
     "forward_arg_names:[str]?="},
    {"ModuleCallEntry", false, "fqn:str signature:ModuleCallSignature?="},
    {"NamedTupleDef", false, "field_names:[str]"},
    {"GraphModule", false,
     "graph:Graph signature:GraphSignature "
     "module_call_graph:[ModuleCallEntry] metadata:{str}= "
     "treespec_namedtuple_fields:{NamedTupleDef}="},
    {"SchemaVersion", false, "major:int minor:int"},
    // Of any version: what is read of a program first.
    {"VersionedProgram", false, "schema_version:SchemaVersion"},
    {"ExportedProgram", false,
     "graph_module:GraphModule opset_version:{int} "
     "range_constraints:{RangeConstraint} schema_version:SchemaVersion "
     "verifiers:[str]= torch_version:str= guards_code:[str]="},
    {"TreeSpec", false, "type:str? context:any children_spec:[TreeSpec]"},
    {"PayloadMeta", false,
     "path_name:str is_param:bool use_pickle:bool tensor_meta:TensorMeta?"},
    {"PayloadConfig", false, "config:{PayloadMeta}"},
    // Our own, of guard_places.h.
    {"Place", false, "file:str line:int code:str"},
    {"PlacesOfGuard", false, "guard:str places:[Place]"},
    {"GuardPlaces", false, "guards:[PlacesOfGuard]"}};

struct Member {
  std::string name, type;
  bool may_miss;
};
struct Form {
  bool is_union = false;
  std::vector<Member> members;
};

std::map<std::string, Form, std::less<>> make_forms() {
  std::map<std::string, Form, std::less<>> forms;
  for (const TypeRow& row : kTypes) {
    Form& form = forms[row.name];
    form.is_union = row.is_union;
    std::istringstream members(row.members);
    for (std::string text; members >> text;) {
      const size_t colon = text.find(':');
      const bool may_miss = text.ends_with('=');
      form.members.push_back(
          {text.substr(0, colon),
           text.substr(colon + 1, text.size() - colon - 1 - may_miss),
           may_miss});
    }
  }
  return forms;
}

// Where in the document, as a path.
struct Place {
  const Place* parent = nullptr;
  std::string_view key;
  size_t index = 0;  // where there is no key

  std::string text() const {
    if (parent == nullptr) return "";
    const std::string before = parent->text();
    if (key.empty()) return before + "[" + std::to_string(index) + "]";
    return (before.empty() ? "" : before + ".") + std::string(key);
  }
};

class Check {
 public:
  void value(const Json& json, std::string_view type, const Place& place) const;

 private:
  void object(const Json& json, std::string_view name,
              const Place& place) const;
  [[noreturn]] static void fail(const Place& place, const std::string& what) {
    const std::string where = place.text();
    throw FileError((where.empty() ? "" : where + ": ") + what);
  }
};

void Check::object(const Json& json, std::string_view name,
                   const Place& place) const {
  static const auto kForms = make_forms();
  const Form& form = kForms.find(name)->second;
  if (form.is_union && json.members().size() != 1)
    fail(place, "expected an object of one member, found " +
                    std::to_string(json.members().size()));
  size_t known = 0;
  for (const Member& member : form.members) {
    const Json* found = json.member(member.name);
    if (found != nullptr) {
      ++known;
      value(*found, member.type, {&place, member.name, 0});
    } else if (!form.is_union && !member.may_miss) {
      fail(place, "there is no '" + member.name + "'");
    }
  }
  if (name == "TensorMeta" &&
      json.at("sizes").items().size() != json.at("strides").items().size())
    fail(place, "it has " + std::to_string(json.at("sizes").items().size()) +
                    " sizes and " +
                    std::to_string(json.at("strides").items().size()) +
                    " strides");
  if (form.is_union && known == 0)
    fail(place, "'" + json.members()[0].first.substr(0, 100) +
                    "' is not known of a " + std::string(name));
}

void Check::value(const Json& json, std::string_view type,
                  const Place& place) const {
  if (type.ends_with('?')) {
    if (json.is_null()) return;
    type.remove_suffix(1);
  }
  const std::string_view inner =
      type.size() > 2 ? type.substr(1, type.size() - 2) : "";
  try {
    if (type == "any") return;
    if (type == "str") {
      json.string();
    } else if (type == "int") {
      json.integer();
    } else if (type == "bool") {
      json.boolean();
    } else if (type == "float") {
      json.number();
    } else if (type.starts_with('[')) {
      const Json::Items& items = json.items();
      for (size_t i = 0; i < items.size(); ++i)
        value(items[i], inner, {&place, {}, i});
    } else if (type.starts_with('{')) {
      for (const auto& [key, member] : json.members())
        value(member, inner, {&place, key, 0});
    } else {
      object(json, type, place);
    }
  } catch (const WrongType& error) {
    fail(place, error.what());
  }
}

}  // namespace

void check_form(const Json& json, std::string_view type,
                const std::string& where) {
  try {
    Check().value(json, type, {});
  } catch (const FileError& error) {
    throw FileError(where + ": " + error.what());
  }
}

}  // namespace proviso::inline v0_2::pt2
